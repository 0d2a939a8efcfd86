"""The run folder: what is written is read back, an interruption loses nothing, strangers' files are safe."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sectioncls.errors import InputError, OutputError
from sectioncls.records import Score
from sectioncls.runs import create_run, open_run, reopen_run

PREDICTIONS = {
    "article_id": ["a", "a", "b"],
    "index": np.array([0, 1, 0], dtype=np.int64),
    "label": ["method", "result", "other"],
    "encoder": ["tuned"] * 3,
    "method": ["knn"] * 3,
    "predicted": ["method", "other", "other"],
}


def test_everything_written_is_read_back(tmp_path: Path) -> None:
    run = create_run(tmp_path / "r", {"name": "demo", "seeds": [1]})
    scores = [
        Score("f1-micro", 0.5, 0.4, 0.6, n=3, method="knn", encoder="tuned", seed=1),
        Score("f1", 1.0, label="method", method="knn", encoder="tuned"),
    ]
    run.add_scores(scores[:1])
    run.add_scores(scores[1:])
    run.append_history({"kind": "step", "step": 1, "loss": np.float32(0.5)})
    run.append_history({"kind": "note", "step": 1, "text": "zwei\nZeilen"})
    run.write_table("predictions", PREDICTIONS)
    run.write_text("recipe.toml", "a = 1\n")
    run.finish(seconds={"train": 1.5})

    read = open_run(tmp_path / "r")
    assert read.name == "demo"
    assert read.scores() == scores
    assert read.history() == [
        {"kind": "step", "step": 1, "loss": 0.5},
        {"kind": "note", "step": 1, "text": "zwei\nZeilen"},
    ]
    assert read.read_table("predictions") == {**PREDICTIONS, "index": [0, 1, 0]}
    assert read.read_table("clusters") == {}
    assert read.info["seconds"] == {"train": 1.5}
    assert read.info["files"] == ["history.jsonl", "predictions.parquet", "recipe.toml", "scores.json"]


def test_rows_are_added_to_a_table_once_per_encoder_and_method(tmp_path: Path) -> None:
    run = create_run(tmp_path / "r")
    run.add_rows("predictions", PREDICTIONS)
    run.add_rows("predictions", {**PREDICTIONS, "method": ["svm"] * 3})
    run.add_rows("predictions", {**PREDICTIONS, "predicted": ["result"] * 3})
    table = run.read_table("predictions")
    assert table["method"] == ["svm"] * 3 + ["knn"] * 3
    assert table["predicted"] == ["method", "other", "other"] + ["result"] * 3


def test_undefined_values_are_valid_json(tmp_path: Path) -> None:
    run = create_run(tmp_path / "r")
    run.add_scores([Score("silhouette", math.nan)])
    run.append_history({"kind": "step", "step": 1, "loss": math.inf})

    def refuse(name: str) -> None:
        raise AssertionError(name)

    json.loads((run.path / "scores.json").read_text(), parse_constant=refuse)
    json.loads((run.path / "history.jsonl").read_text(), parse_constant=refuse)
    assert math.isnan(run.scores()[0].value)


def test_same_content_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        run = create_run(tmp_path / name, {"name": "same"})
        run.write_table("predictions", PREDICTIONS)
        run.add_scores([Score("ari", 0.1)])
        run.finish()
    for file in ("run.json", "scores.json", "predictions.parquet"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_an_unfinished_run_is_refused_by_readers_and_goes_on_for_writers(tmp_path: Path) -> None:
    run = create_run(tmp_path / "r")
    run.append_history({"kind": "step", "step": 1})
    with (run.path / "history.jsonl").open("a") as stream:
        stream.write('{"kind": "st')
    with pytest.raises(InputError, match="did not finish"):
        open_run(run.path)
    again = reopen_run(run.path)
    again.append_history({"kind": "step", "step": 2})
    assert [row["step"] for row in again.history()] == [1, 2]
    again.finish()
    assert open_run(run.path).info["status"] == "done"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "no run.json"),
        ("{", "not JSON"),
        ("[]", "not the manifest of a run"),
        ('{"files": []}', "not the manifest of a run"),
        ('{"format": 99, "status": "done"}', "format 99"),
    ],
)
def test_other_folders_are_refused_in_one_line(tmp_path: Path, content: str | None, says: str) -> None:
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    with pytest.raises(InputError, match=says) as caught:
        open_run(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such run"):
        open_run(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("scores.json", '[{"metric": "ari", "value": 1, "colour": 2}]', "colour"),
        ("scores.json", '{"metric": 1', "not a list of scores"),
        ("scores.json", "[3]", "not a list of scores"),
        ("history.jsonl", '{"kind": "step"}\nnonsense\n', "history.jsonl:2"),
    ],
)
def test_broken_pieces_name_their_file(tmp_path: Path, file: str, content: str, says: str) -> None:
    run = create_run(tmp_path / "r")
    (run.path / file).write_text(content)
    with pytest.raises(InputError, match=says) as caught:
        run.scores() if file == "scores.json" else run.history()
    assert file in str(caught.value)


def test_broken_tables_name_their_file(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    run = create_run(tmp_path / "r")
    (run.path / "clusters.parquet").write_bytes(b"PAR")
    with pytest.raises(InputError, match=r"clusters\.parquet: is not a Parquet file"):
        run.read_table("clusters")
    pq.write_table(pa.table({"x": [1.0]}), run.path / "clusters.parquet")
    with pytest.raises(InputError, match="lacks the column article_id"):
        run.read_table("clusters")


def test_an_existing_run_goes_only_with_overwrite(tmp_path: Path) -> None:
    run = create_run(tmp_path / "r")
    run.add_scores([Score("ari", 0.1)])
    run.finish()
    with pytest.raises(OutputError, match="exists already"):
        create_run(run.path)
    again = create_run(run.path, overwrite=True)
    assert again.scores() == []
    again.finish()
    assert [path.name for path in tmp_path.iterdir()] == ["r"]


def test_overwrite_leaves_foreign_files_alone(tmp_path: Path) -> None:
    run = create_run(tmp_path / "r")
    (run.path / "thesis.tex").write_text("years of work")
    for finish in (False, True):
        with pytest.raises(OutputError, match=r"thesis\.tex"):
            create_run(run.path, overwrite=True)
        assert (run.path / "thesis.tex").read_text() == "years of work"
        if not finish:
            run.info["status"] = "done"
            (run.path / "run.json").write_text(json.dumps(run.info))


def test_a_run_that_was_killed_may_be_overwritten(tmp_path: Path) -> None:
    run = create_run(tmp_path / "r")
    run.folder("encoder").mkdir()
    (run.folder("encoder") / "model.safetensors").write_bytes(b"half")
    (run.path / ".scores.json.abc.part").write_text("[")
    create_run(run.path, overwrite=True)
    assert [path.name for path in run.path.iterdir()] == ["run.json"]


def test_wrong_calls_are_told_what_exists(tmp_path: Path) -> None:
    run = create_run(tmp_path / "r")
    with pytest.raises(ValueError, match="predictions, clusters, projection"):
        run.write_table("nothing", {})
    with pytest.raises(ValueError, match="needs the column predicted"):
        run.write_table("predictions", {key: PREDICTIONS[key] for key in PREDICTIONS if key != "predicted"})
    with pytest.raises(ValueError, match="no folder"):
        run.folder("../elsewhere")


def test_the_format_needs_no_heavy_library() -> None:
    code = "import sys, sectioncls.runs; print([m for m in ('torch', 'pyarrow', 'numpy') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_rows_of_another_seed_stay(tmp_path):
    run = create_run(tmp_path / "run")
    columns = {"task": ["t"], "metric": ["map"], "query": ["q"], "encoder": ["e"], "method": ["dot"], "split": ["test"]}
    for seed, value in ((1, 0.1), (2, 0.2), (1, 0.3)):
        run.add_rows("query_scores", {**columns, "seed": [seed], "value": [value]})
    found = run.read_table("query_scores")
    assert list(zip(found["seed"], found["value"], strict=True)) == [(2, 0.2), (1, 0.3)]


HOLD = """
import sys
from sectioncls.runs import create_run
run = create_run(sys.argv[1])
print("held", flush=True)
sys.stdin.readline()
if sys.argv[2] == "finish":
    run.finish()
    print("finished", flush=True)
    sys.stdin.readline()
"""


def start_holder(path: Path, then: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOLD, str(path), then]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_folder_that_another_process_fills_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "reports" / "r"
    process = start_holder(path, "finish")
    assert process.stdin is not None
    assert process.stdout is not None
    for use in (create_run, lambda path: create_run(path, overwrite=True), reopen_run):
        with pytest.raises(OutputError, match="in use by another process") as caught:
            use(path)
        assert "\n" not in str(caught.value)
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline() == "finished\n"  # a finished run is free, although its process lives
    reopen_run(path).finish()
    process.communicate("\n", timeout=60)
    assert [file.name for file in path.parent.iterdir()] == ["r"]


def test_a_run_whose_process_was_killed_goes_on(tmp_path: Path) -> None:
    process = start_holder(tmp_path / "r", "wait")
    process.kill()
    process.communicate(timeout=60)
    reopen_run(tmp_path / "r").finish()
    assert open_run(tmp_path / "r").info["status"] == "done"
    assert [file.name for file in tmp_path.iterdir()] == ["r"]


def test_a_run_whose_process_ended_leaves_no_lock(tmp_path: Path) -> None:
    process = start_holder(tmp_path / "r", "wait")
    process.communicate("\n", timeout=60)
    assert [file.name for file in tmp_path.iterdir()] == ["r"]
    reopen_run(tmp_path / "r").finish()
