from __future__ import annotations

import pickle
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.training import Example

from sectioncls.errors import InputError, UsageError
from sectioncls.sentences import scisplit
from sectioncls.sentences.component import SciSplit, make_scisplit

TEXTS = [
    "Ram et al. @cite slept. So did E. coli. p53 fell (see Fig. 2. It fell).",
    "",
    "  The ewes slept.  They woke.\n\nNo stop here\n\n",
    " ",
    "Was it so? No!",
]

ENGLISH = spacy.blank("en")


@pytest.fixture
def nlp():
    pipeline = spacy.blank("en")
    pipeline.add_pipe("scisplit")
    return pipeline


def sentences(doc: Doc) -> list[str]:
    return [sentence.text.strip() for sentence in doc.sents]


@pytest.mark.parametrize("text", TEXTS)
def test_sentences_are_those_of_the_function(nlp, text: str) -> None:
    assert [part for part in sentences(nlp(text)) if part] == [text[start:end] for start, end in scisplit(text)]


def test_every_token_is_marked(nlp) -> None:
    doc = nlp(TEXTS[0])
    assert doc.has_annotation("SENT_START", require_complete=True)
    assert {token.is_sent_start for token in doc} == {True, False}
    assert nlp("  So it is.")[0].is_sent_start


def test_pipe_gives_the_same_as_single_calls(nlp) -> None:
    texts = TEXTS * 20
    single = [[token.is_sent_start for token in nlp(text)] for text in texts]
    for size in (1, 3, 1000):
        assert [[token.is_sent_start for token in doc] for doc in nlp.pipe(texts, batch_size=size)] == single


def test_two_processes(nlp) -> None:
    found = [sentences(doc) for doc in nlp.pipe(TEXTS, n_process=2, batch_size=2)]
    assert found == [sentences(nlp(text)) for text in TEXTS]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(st.sampled_from("aA.1 \n(“”)[]é,\U0001f411\u00a0'"), max_size=40), min_size=1, max_size=4))
def test_a_sentence_begins_at_the_first_token_that_begins_with_or_after_it(texts: list[str]) -> None:
    docs = [ENGLISH.make_doc(text) for text in texts]
    for doc, text in zip(SciSplit().pipe(docs), texts, strict=True):
        wanted = {0} if len(doc) else set()
        for start, _ in scisplit(text)[1:]:
            wanted |= set([token.i for token in doc if token.idx >= start][:1])
        assert {token.i for token in doc if token.is_sent_start} == wanted


def test_docs_of_several_vocabularies() -> None:
    docs = [spacy.blank(language).make_doc("So it is. We left.") for language in ("en", "de", "en")]
    assert [len(list(doc.sents)) for doc in SciSplit().pipe(docs)] == [2, 2, 2]


def test_made_words_and_spaces() -> None:
    vocab = spacy.blank("en").vocab
    doc = SciSplit()(
        Doc(vocab, words=["Ram", "fell", ".", "It", "IS_ALPHA", "."], spaces=[True, False, True, True, False, False])
    )
    assert [token.is_sent_start for token in doc] == [True, False, False, True, False, False]


def test_earlier_marks_stay_unless_overwritten() -> None:
    for overwrite, expected in ((False, 3), (True, 2)):
        pipeline = spacy.blank("en")
        component = SciSplit(overwrite=overwrite)
        doc = pipeline.make_doc("The ewes slept. They woke.")
        doc[2].is_sent_start = True
        assert len(list(component(doc).sents)) == expected


def test_cap() -> None:
    pipeline = spacy.blank("en")
    pipeline.add_pipe("scisplit", config={"cap": 50})
    assert [len(sentence.text) <= 50 for sentence in pipeline("word " * 30).sents] == [True] * 3
    with pytest.raises(UsageError, match="characters"):
        SciSplit(cap=0)


def test_settings_are_saved_and_loaded(tmp_path: Path) -> None:
    pipeline = spacy.blank("en")
    pipeline.add_pipe("scisplit", name="cuts", config={"cap": 50, "overwrite": True})
    pipeline.to_disk(tmp_path / "model")
    on_disk = spacy.load(tmp_path / "model").get_pipe("cuts")
    in_bytes = spacy.blank("en")
    in_bytes.add_pipe("scisplit", name="cuts")
    in_bytes.from_bytes(pipeline.to_bytes())
    for loaded in (on_disk, in_bytes.get_pipe("cuts"), pickle.loads(pickle.dumps(pipeline.get_pipe("cuts")))):
        assert (loaded.cap, loaded.overwrite) == (50, True)
        assert len(list(loaded(pipeline.make_doc("word " * 30)).sents)) == 3


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{}", b'{"cap": 0, "overwrite": false}', b'{"cap": "a", "overwrite": true}', b"\xff"]
)
def test_foreign_settings_are_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no settings of scisplit"):
        SciSplit().from_bytes(data)
    (tmp_path / "cuts.json").write_bytes(data)
    with pytest.raises(InputError, match=r"cuts\.json"):
        SciSplit().from_disk(tmp_path / "cuts")


def test_spacy_scores_it(nlp) -> None:
    text = "Ram et al. slept. They woke."
    reference = nlp(text)
    scores = nlp.evaluate([Example(nlp.make_doc(text), reference)])
    assert scores["sents_f"] == 1.0


def test_the_package_offers_it_to_spacy() -> None:
    (point,) = entry_points(group="spacy_factories", name="scisplit")
    assert point.load() is make_scisplit
