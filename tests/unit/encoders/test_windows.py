from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sectioncls.encoders import Context, encode_tokens, load_encoder, make_windows
from sectioncls.encoders.windows import _cut

WORDS = ["we", "the", "results", "show", "study", "aim", "data", "model"]
TEXTS = [" ".join(WORDS[(i + k) % 8] for k in range(1 + i % 6)) for i in range(20)]
ARTICLES = ["b"] * 7 + ["a"] * 13
INDEX = [*range(7), *range(13)]


@given(st.lists(st.integers(1, 40), max_size=60), st.integers(4, 60), st.integers(0, 30))
@settings(max_examples=300, deadline=None)
def test_every_sentence_belongs_to_one_window_that_fits(lengths, max_length, overlap):
    lengths = [min(length, max_length - 1) for length in lengths]
    own = []
    for begin, end, left, right in _cut(lengths, Context(max_length, overlap), 0):
        assert left <= begin < end <= right
        assert sum(lengths[left:right]) <= max_length - 1
        own += range(begin, end)
    assert own == list(range(len(lengths)))


def test_an_article_that_fits_is_one_row(tiny_bert):
    encoder = load_encoder(tiny_bert, device="cpu", context=Context(64, 8))
    tokenizer = encoder.model.tokenizer
    windows = encoder.read(TEXTS, ARTICLES, INDEX)
    ids = windows.ids[: windows.offsets[1]].tolist()
    expected = [tokenizer.cls_token_id]
    for text in TEXTS[:7]:
        expected += [*tokenizer(text, add_special_tokens=False)["input_ids"], tokenizer.sep_token_id]
    assert ids == expected
    assert sorted(windows.sentences.tolist()) == list(range(20))


def test_vectors_are_means_of_tokens_in_context(tiny_bert):
    """The oracle is transformers' own forward pass over the joined ids, one article at a time."""
    encoder = load_encoder(tiny_bert, device="cpu", pooling="mean", context=Context(128, 8)).eval()
    order = np.random.default_rng(0).permutation(20)
    found = encode_tokens(
        encoder, encoder.read([TEXTS[i] for i in order], [ARTICLES[i] for i in order], [INDEX[i] for i in order])
    )
    tokenizer = encoder.model.tokenizer
    for article in ("a", "b"):
        rows = [i for i in range(20) if ARTICLES[i] == article]
        ids, spans = [tokenizer.cls_token_id], []
        for row in rows:
            tokens = tokenizer(TEXTS[row], add_special_tokens=False)["input_ids"]
            spans.append((len(ids), len(ids) + len(tokens)))
            ids += [*tokens, tokenizer.sep_token_id]
        with torch.inference_mode():
            hidden = encoder.backbone(input_ids=torch.tensor([ids])).last_hidden_state[0]
        for row, (start, end) in zip(rows, spans, strict=True):
            place = int(np.flatnonzero(order == row)[0])
            np.testing.assert_allclose(found[place], hidden[start:end].mean(0).numpy(), atol=2e-6)


def test_batch_and_one_by_one_are_equal(tiny_bert):
    encoder = load_encoder(tiny_bert, device="cpu", pooling="mean", context=Context(24, 6)).eval()
    windows = encoder.read(TEXTS, ARTICLES, INDEX)
    assert len(windows) > 4
    found = encode_tokens(encoder, windows)
    with torch.inference_mode():
        for row in range(len(windows)):
            alone = encoder(windows.batch(np.asarray([row])))
            np.testing.assert_allclose(found[windows.members(np.asarray([row]))], alone.numpy(), atol=2e-6)


def test_empty_and_endless_sentences_keep_their_vector(tiny_bert):
    encoder = load_encoder(tiny_bert, device="cpu", pooling="mean", context=Context(16, 4)).eval()
    texts = ["", "the study " * 400, "   ", "we aim", "結果"]
    vectors = encode_tokens(encoder, encoder.read(texts, ["x"] * 5, range(5)))
    assert vectors.shape == (5, encoder.dimension)
    assert np.isfinite(vectors).all() and (np.abs(vectors).sum(1) > 0).all()


@pytest.mark.parametrize("count", [0, 1])
def test_no_sentence_and_one_sentence(tiny_bert, count):
    tokenizer = load_encoder(tiny_bert, device="cpu").model.tokenizer
    windows = make_windows(tokenizer, TEXTS[:count], ARTICLES[:count], INDEX[:count], Context(16, 4))
    assert windows.items == len(windows) == count


def test_five_thousand_sentences(tiny_bert):
    tokenizer = load_encoder(tiny_bert, device="cpu").model.tokenizer
    windows = make_windows(tokenizer, TEXTS * 250, ["x"] * 5000, range(5000), Context(64, 16))
    assert sorted(windows.sentences.tolist()) == list(range(5000))
    assert windows.lengths.max() <= 64


PATHS = [("xx",)] * 3 + [()] * 4 + [("yy", "xz")] * 6 + [("zz",)] * 7


def test_titles_and_place_are_read_and_are_no_spans(tiny_bert):
    encoder = load_encoder(tiny_bert, device="cpu", context=Context(128, 8, titles=True, place=True))
    tokenizer = encoder.model.tokenizer

    def words(text):
        return [*tokenizer(text, add_special_tokens=False)["input_ids"], tokenizer.sep_token_id]

    windows = encoder.read(TEXTS, ARTICLES, INDEX, PATHS)
    expected, spans = [tokenizer.cls_token_id, *words("1 of 10"), *words("xx")], []
    for text in TEXTS[:7]:  # the last four stand under no title
        spans.append([len(expected), len(expected) + len(words(text)) - 1])
        expected += words(text)
    assert windows.ids[: windows.offsets[1]].tolist() == expected
    assert windows.spans[:7].tolist() == spans and windows.sentences[:7].tolist() == list(range(7))
    second = windows.ids[windows.offsets[1] : windows.offsets[2]].tolist()
    joined = ",".join(map(str, second))
    for title in ("yy: xz", "zz"):
        assert joined.count(",".join(map(str, words(title)))) == 1


def test_windows_tell_the_tenth_where_they_begin(tiny_bert):
    tokenizer = load_encoder(tiny_bert, device="cpu").model.tokenizer
    context = Context(24, 0, place=True)
    windows = make_windows(tokenizer, ["we aim to show"] * 40, ["x"] * 40, range(40), context)
    told = [tokenizer.decode(windows.ids[begin:]).split("[SEP]")[0] for begin in windows.offsets[:-1]]
    begins = windows.sentences[windows.firsts[:-1]]
    told = [text.replace("[CLS]", "").replace(" ", "").replace("##", "") for text in told]
    assert told == [f"{1 + row // 4}of10" for row in begins.tolist()]


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3)), min_size=1, max_size=40),
    st.integers(16, 48),
    st.integers(0, 12),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_windows_with_titles_fit_and_hold_every_sentence_once(tiny_bert, rows, length, overlap, place):
    tokenizer = load_encoder(tiny_bert, device="cpu").model.tokenizer
    names = [(), ("aim",), ("the results", "data"), ("methods of this study " * 20,)]
    texts = [" ".join(WORDS[i % 8] for i in range(count)) for count, _ in rows]
    context = Context(length, overlap, titles=True, place=place)
    windows = make_windows(tokenizer, texts, ["x"] * len(rows), range(len(rows)), context, [names[n] for _, n in rows])
    assert int(windows.lengths.max()) <= length
    assert sorted(windows.sentences.tolist()) == list(range(len(rows)))
    assert (windows.spans[:, 0] < windows.spans[:, 1]).all()


def test_without_titles_nothing_changes(tiny_bert):
    tokenizer = load_encoder(tiny_bert, device="cpu").model.tokenizer
    plain = make_windows(tokenizer, TEXTS, ARTICLES, INDEX, Context(24, 6))
    for context, paths in ((Context(24, 6), PATHS), (Context(24, 6, titles=True), None)):
        other = make_windows(tokenizer, TEXTS, ARTICLES, INDEX, context, paths)
        assert other.ids.tolist() == plain.ids.tolist() and other.spans.tolist() == plain.spans.tolist()
