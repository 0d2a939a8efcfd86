"""Fixtures that every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Tests run side by side: threads of their own would only get into each other's way. Read when torch loads.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of this repository."""
    return ROOT


@pytest.fixture(scope="session")
def demo() -> Path:
    """The embedded demo corpus folder."""
    return ROOT / "corpora" / "demo"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real corpora beside the repository; a test that asks for it skips where it is absent."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real corpora (../shared/data) are not here")
    return folder


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a plain two-layer BERT of random weights, as `--model FOLDER` takes it (SciBERT's shape, small)."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("models") / "tiny-bert"
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)] + list("0123456789.,;:()%-'")
    words = "we the of a to in this study method results show that propose aim background patients model data"
    pieces = [f"##{letter}" for letter in letters]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *words.split(), *pieces]
    tokenizer = Tokenizer(
        models.WordPiece({word: i for i, word in enumerate(vocabulary)}, unk_token="[UNK]", max_input_chars_per_word=40)
    )
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=64,
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def small_corpus(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo set in CSAbstruct's form, built: 287 + 66 + 67 sentences, five labels."""
    from sectioncls.corpora import build_csabstruct

    folder = tmp_path_factory.mktemp("corpora") / "small"
    build_csabstruct(demo / "csabstruct", folder, command="sectioncls build-csabstruct demo")
    return folder
