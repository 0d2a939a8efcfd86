from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sectioncls.errors import ModelError, UsageError
from sectioncls.sentences import SPLITTERS, join_wrong_ends, others, split_sentences
from sectioncls.sentences.others import _starts_of_parts
from sectioncls.sentences.pipelines import find_pipeline


def sentences(text: str, splitter: str = "sentencizer") -> list[str]:
    return [text[start:end] for start, end in split_sentences(text, splitter)]


@pytest.mark.parametrize("splitter", sorted(SPLITTERS))
@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "One ewe.",
        "  One ewe. Two rams!  Was it so?\n\nYes \u00a0.  ",
        "H₂O \U0001f411 stayed. α-Actin fell. e.g. this. ... (So. It. Goes.) \u2028 End",
        "." * 500,
        "a" * 5000,
    ],
)
def test_offsets_are_trimmed_and_cover_all_but_white_space(splitter: str, text: str) -> None:
    assert_covered(text, split_sentences(text, splitter))


def assert_covered(text: str, spans: list[tuple[int, int]]) -> None:
    at = 0
    for start, end in spans:
        assert at <= start < end <= len(text)
        assert not text[at:start].strip()
        assert text[start:end] == text[start:end].strip()
        at = end
    assert not text[at:].strip()


@pytest.mark.parametrize("splitter", sorted(SPLITTERS))
@settings(max_examples=40, deadline=None)
@given(
    text=st.lists(
        st.one_of(
            st.text(alphabet=st.characters(exclude_categories=()), max_size=6),
            st.sampled_from(
                [". ", "et al. ", '"', "'", "(", ")", "1. ", "...", "\n", "\r\n\n", "∯", "&ᓴ&", "\ud800", "👩‍🔬 "]
            ),
        ),
        max_size=30,
    ).map("".join)
)
def test_any_text_is_covered(splitter: str, text: str) -> None:
    assert_covered(text, split_sentences(text, splitter))


@pytest.mark.parametrize("splitter", ["pysbd", "syntok", "sentencex"])
def test_a_long_text_is_cut_as_its_parts_are(splitter: str) -> None:
    text = " ".join(f"The ewe {'ate ' * (i % 40)}hay again." for i in range(2000))
    assert len(text) > 100_000
    assert len(split_sentences(text, splitter)) == 2000


@pytest.mark.parametrize("splitter", ["pysbd", "syntok", "sentencex"])
def test_a_sentence_longer_than_a_window_is_cut_at_white_space(splitter: str) -> None:
    text = "So the flock went on " * 12_000
    found = sentences(text, splitter)
    assert max(map(len, found)) <= 100_000
    assert " ".join(found) == text.strip()


@pytest.mark.parametrize("piece", ["(", ".", "a.", "1 ", "1", '"', "[", "\n", "A. ", "1. ", "羊"])
@pytest.mark.parametrize("splitter", ["pysbd", "syntok", "sentencex"])
def test_libraries_end_in_time_on_long_runs(splitter: str, piece: str) -> None:
    began = time.process_time()
    split_sentences("So " + piece * (20_000 // len(piece)) + " it is. Yes.", splitter)
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    "text",
    ["So ..[111 111 111 111 111 111 111 111 111 111]", f"f.{'302205' * 30}bd", f"It is.[{'17, ' * 40}18 They went."],
)
def test_numbers_that_stop_pysbd_do_not_stop_us(text: str) -> None:
    assert_covered(text, split_sentences(text, "pysbd"))


def test_pysbd_is_pysbd() -> None:
    text = "It rose to 3.5 mg (cf. Fig. 2).  Was it so?\n\nMr. Lamb left. H₂O stayed."
    expected = ["It rose to 3.5 mg (cf. Fig. 2).", "Was it so?", "Mr. Lamb left.", "H₂O stayed."]
    assert sentences(text, "pysbd") == expected


def test_parts_are_found_again_in_an_altered_text() -> None:
    text = "One ewe.  Two\nrams! Three."
    assert _starts_of_parts(text, ["One ewe.", "Two rams!", "Three."]) == [0, 10, 20]
    assert _starts_of_parts(text, ["One ewe.", "Two hens!", "", "Three."]) == [0, 20]
    assert _starts_of_parts("", ["One."]) == []


def test_where_a_library_fails_the_sentencizer_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        @staticmethod
        def get_sentence_boundaries(language: str, text: str) -> list[dict[str, int]]:
            raise IndexError("no")

    monkeypatch.setattr(others, "_library", lambda name: Broken)
    with pytest.warns(UserWarning, match="sentencex failed on 18 characters"):
        assert sentences("It grew. It fell. ", "sentencex") == ["It grew.", "It fell."]


def test_wrong_offsets_of_a_library_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong:
        @staticmethod
        def get_sentence_boundaries(language: str, text: str) -> list[dict[str, int]]:
            return [{"start_index": start} for start in (-3, 9, 5, 5, 400)]

    monkeypatch.setattr(others, "_library", lambda name: Wrong)
    assert sentences("It grew. It fell.", "sentencex") == ["It gr", "ew.", "It fell."]


@pytest.mark.parametrize("splitter", ["pysbd", "syntok", "sentencex"])
def test_a_missing_library_is_one_line(splitter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, splitter, None)
    monkeypatch.setitem(sys.modules, f"{splitter}.segmenter", None)
    with pytest.raises(UsageError, match=r"not installed \(pip install sectioncls\[splitters\]\)"):
        split_sentences("", splitter)


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A spaCy pipeline with an untrained tagger and a sentencizer, as ``spacy train`` writes it."""
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("senter")
    nlp.initialize()
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("lemmatizer", config={"mode": "lookup"})
    nlp.disable_pipe("senter")
    folder = tmp_path_factory.mktemp("pipelines") / "tiny"
    nlp.to_disk(folder, exclude=["lemmatizer"])
    return folder


def test_a_pipeline_splits(pipeline: Path) -> None:
    text = "  H₂O \U0001f411 stayed.\n It fell! "
    assert sentences(text, str(pipeline)) == ["H₂O \U0001f411 stayed.", "It fell!"]
    assert sentences("", str(pipeline)) == []


def altered(pipeline: Path, folder: Path, old: str, new: str) -> str:
    import shutil

    shutil.copytree(pipeline, folder)
    config = folder / "config.cfg"
    text = config.read_text(encoding="utf-8")
    assert old in text
    config.write_text(text.replace(old, new), encoding="utf-8")
    return str(folder)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("before_creation = null", 'before_creation = {"@callbacks":"evil.v1"}', "evil.v1, which is not spaCy's own"),
        ('"spacy.Tokenizer.v1"', '"evil.Tokenizer.v1"', "evil.Tokenizer.v1"),
        ('factory = "sentencizer"', 'source = "os"', "marks no sentence boundaries"),
        ('factory = "sentencizer"', 'factory = "evil"', "marks no sentence boundaries"),
        ("[nlp]", "[nlp", "can't load this pipeline"),
    ],
)
def test_an_unfit_pipeline_is_refused(pipeline: Path, tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        split_sentences("It grew.", altered(pipeline, tmp_path / "bad", old, new))


def test_functions_behind_a_variable_are_seen(pipeline: Path, tmp_path: Path) -> None:
    old, new = '[nlp.tokenizer]\n@tokenizers = "spacy.Tokenizer.v1"', ""
    name = altered(pipeline, tmp_path / "bad", old, new)
    config = tmp_path / "bad" / "config.cfg"
    text = config.read_text(encoding="utf-8").replace("[nlp]", "[nlp]\ntokenizer = ${bad}", 1)
    config.write_text(text + '\n[bad]\n@tokenizers = "evil.v1"\n', encoding="utf-8")
    with pytest.raises(ModelError, match=r"evil\.v1"):
        split_sentences("It grew.", name)


def test_an_installed_pipeline_is_found_without_importing_it(
    pipeline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    package = tmp_path / "xx_flock_sm_again"
    shutil.copytree(pipeline, package / "data-1.0")
    (package / "__init__.py").write_text("raise SystemExit('imported')", encoding="utf-8")
    metadata = tmp_path / "xx_flock_sm_again-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: xx-flock-sm-again\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[spacy_models]\nxx_flock_sm_again = xx_flock_sm_again\n")
    (metadata / "RECORD").write_text("xx_flock_sm_again/__init__.py,,\nxx_flock_sm_again/data-1.0/config.cfg,,\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert find_pipeline("xx_flock_sm") == find_pipeline("xx_flock_sm_again") == package / "data-1.0"
    assert sentences("It grew. It fell.", "xx_flock_sm") == ["It grew.", "It fell."]
    assert find_pipeline("xx_flock_lg") is None
    assert find_pipeline("os") is None


@pytest.mark.parametrize(
    "parts",
    [
        ["Wool et al. @cite saw lambs, i.e. small sheep.", "They grew."],
        ["See Fig. 3 and refs. 4 to 6.", "It held."],
        ["It grew with E. coli and S. aureus.", "Then it died."],
        ["It fell, says Wool et al., for long.", "So did Ewe etc., all."],
        ["Dr. Lamb sold No. 12 of Ovis sp. and left.", "Ewes etc. were fed."],
        ["We met J. R. Ramsey and her dog.", "Both sang."],
        ["About five vs. Seven were cf. Ewe seen approx. in May.", "No more."],
        ["The dose was 0.5 mg (p < 0.01).", "It was low."],
    ],
)
def test_abbreviations_do_not_end_a_sentence(parts: list[str]) -> None:
    assert sentences(" ".join(parts)) == parts


@pytest.mark.parametrize("piece", ["(", ".", "a.", "a'", "1-", "http://", "x", ") ", ". "])
def test_long_runs_end_in_time(piece: str) -> None:
    begin = time.perf_counter()
    split_sentences("So " + piece * 20_000 + " it is.")
    assert time.perf_counter() - begin < 10


def test_the_plain_splitter_repairs_nothing() -> None:
    text = "Wool et al. Saw it."
    assert sentences(text, "sentencizer-plain") == ["Wool et al.", "Saw it."]
    assert sentences(text) == [text]


def test_joining_leaves_right_ends_alone() -> None:
    text = "It was fed. Rams slept."
    assert join_wrong_ends(text, [(0, 11), (12, 23)]) == [(0, 11), (12, 23)]
    assert join_wrong_ends(text, []) == []


def test_a_text_beyond_the_limit_is_cut_at_white_space() -> None:
    text = "A sheep is a sheep " * 12_000
    found = sentences(text)
    assert len(found) == 2
    assert " ".join(found) == text.strip()


def test_an_unknown_splitter_is_refused() -> None:
    with pytest.raises(UsageError, match=r"sentencizer.*or name an installed spaCy pipeline"):
        split_sentences("x", "nothing")
