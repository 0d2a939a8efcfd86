"""The paper's PMC-Sents-FULL Parquet."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from sectioncls.corpora import build_pmc_sents
from sectioncls.errors import InputError, UsageError

LABELS = ("other", "objective", "method", "result", "background")


def table(articles: int, start: int = 0) -> pd.DataFrame:
    rows = [
        {"id": f"PMC{start + n % articles}", "text": f"sheep {start + n} graze.", "label_id": n % 5}
        for n in range(articles * 3)
    ]
    return pd.DataFrame(rows).assign(sentence=lambda frame: frame["text"])


@pytest.fixture
def src(tmp_path: Path) -> Path:
    folder = tmp_path / "src"
    folder.mkdir()
    table(200).to_parquet(folder / "pmc_sents_full_dev.parquet")
    table(20, 500).to_parquet(folder / "pmc_sents_full_test.parquet")
    return folder


def test_roles_and_a_new_dev(src: Path, tmp_path: Path) -> None:
    corpus = build_pmc_sents(src, tmp_path / "c", command="x", roles={"train": "dev", "test": "test"})
    assert corpus.labels == LABELS
    train, dev, test = (corpus.to_pandas(split) for split in ("train", "dev", "test"))
    assert not set(train["article_id"]) & set(dev["article_id"])
    assert 0 < dev["article_id"].nunique() < 50
    both = pd.concat([train, dev]).sort_values(["article_id", "index"])["text"].tolist()
    assert sorted(both) == sorted(table(200)["text"])
    assert test["text"].tolist() == table(20, 500)["text"].tolist()
    assert test["label"].tolist() == [LABELS[n] for n in table(20, 500)["label_id"]]
    assert any("dev is 10%" in text for text in corpus.info.notes)
    again = build_pmc_sents(src, tmp_path / "d", command="x", roles={"train": "dev", "test": "test"}, seed=1)
    assert set(again.split("dev").article_ids) != set(dev["article_id"])


def test_files_as_themselves(src: Path, tmp_path: Path) -> None:
    corpus = build_pmc_sents(src, tmp_path / "c", command="x")
    assert corpus.info.articles == {"dev": 200, "test": 20}


def test_wrong_roles(src: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no train file \(there: dev, test\)"):
        build_pmc_sents(src, tmp_path / "c", command="x", roles={"train": "train"})
    with pytest.raises(UsageError, match="'trian' is not a split"):
        build_pmc_sents(src, tmp_path / "c", command="x", roles={"trian": "dev"})
    with pytest.raises(UsageError, match="two splits"):
        build_pmc_sents(src, tmp_path / "c", command="x", roles={"train": "dev", "dev": "dev"})


def test_bad_parquet(tmp_path: Path) -> None:
    file = tmp_path / "pmc_sents_full_train.parquet"
    for frame, message in (
        (table(3).drop(columns="label_id"), r"lacks the column label_id \(columns: id, text, sentence\)"),
        (table(3).assign(label_id=5), r"row 0: unknown label id 5"),
        (table(3).assign(text=None), r"row 0: a sentence is empty"),
        (table(3).iloc[:0], "is empty"),
    ):
        frame.to_parquet(file)
        with pytest.raises(InputError, match=message):
            build_pmc_sents(tmp_path, tmp_path / "c", command="x")
    file.write_bytes(b"no parquet")
    with pytest.raises(InputError, match="can't be read as Parquet"):
        build_pmc_sents(tmp_path, tmp_path / "c", command="x")
    assert not (tmp_path / "c").exists()


@pytest.mark.shared
def test_real_files(tmp_path: Path, shared: Path) -> None:
    src = shared / "sentences" / "paper_pmc_sents_full"
    info = build_pmc_sents(src, tmp_path / "c", command="x").info
    assert list(info.counts["test"].values()) == [9289, 603, 4096, 2039, 1283]
    assert list(info.counts["dev"].values()) == [9288, 604, 4095, 2039, 1283]
    assert info.articles == {"dev": 1558, "test": 1559}
