"""A plain four-layer BERT, and ways to condition it so that no two routes are alike."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sectioncls.encoders import condition, encode, join_tokens, load_encoder

TEXTS = [
    "We propose a method.",
    "",
    "The results show that the data of patients in this study (n = 12) improve by 3.5 %, which we did not expect.",
    "a",
    "Background: the model of " + "data " * 100,  # longer than the 64 tokens that the model reads
    "  In this study  ",
]


@pytest.fixture(scope="session")
def four_layers(tiny_bert, tmp_path_factory):
    """The folder of a BERT like tiny_bert with four layers, its biases and normalisations not the initial ones."""
    from transformers import AutoTokenizer, BertConfig, BertModel

    folder = tmp_path_factory.mktemp("models") / "four-layers"
    AutoTokenizer.from_pretrained(tiny_bert).save_pretrained(folder)
    torch.manual_seed(7)
    bert = BertModel(BertConfig.from_pretrained(tiny_bert, num_hidden_layers=4))
    with torch.no_grad():
        for name, weight in bert.named_parameters():
            weight.add_(0.1 * torch.randn_like(weight) * (5 if name.endswith("bias") else 1))
    bert.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def plain(four_layers):
    """The encoder of four layers, without conditioning."""
    return load_encoder(four_layers, device="cpu", pooling="mean").eval()


@pytest.fixture(scope="session")
def conditioned(plain):
    """Give a conditioned encoder: ``conditioned(kind, stirred=True, **options)``; stirred, no route is like another."""

    def make(kind, *, stirred=True, seed=3, **options):
        start = condition(plain, "adapters", seed=seed) if kind == "fusion" else plain
        if kind == "fusion" and stirred:
            stir(start, 11)
        encoder = condition(start, kind, seed=seed, **options)
        return stir(encoder, 12) if stirred else encoder

    return make


def stir(encoder, seed):
    """Move the conditioning's weights by a random tenth."""
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in encoder.conditioning.parameters():
            weight.add_(torch.randn(weight.shape, generator=random), alpha=0.1)
    return encoder


@pytest.fixture(scope="session")
def texts():
    return TEXTS


@pytest.fixture(scope="session")
def vectors_by_hand():
    """Give (n, hidden) vectors by ``layer_by_hand(layer, index, hidden)``, row by row, neither packed nor padded."""

    def compute(encoder, texts, layer_by_hand, pool):
        bert = encoder.backbone
        rows = []
        with torch.inference_mode():
            for text in texts:
                ids = torch.tensor(
                    encoder.model.tokenizer(text, truncation=True, max_length=encoder.max_length).input_ids
                )
                hidden = bert.embeddings(ids[None])
                for index, layer in enumerate(bert.encoder.layer):
                    hidden = layer_by_hand(layer, index, hidden)
                rows.append(pool(hidden[0]))
        return torch.stack(rows).numpy()

    return compute


@pytest.fixture(scope="session")
def both_sides():
    """Give tokens of all texts for every task and side, and the vectors of each (task, side) encoded alone."""

    def make(encoder):
        pairs = [(task, side) for task in encoder.routes for side in ("query", "document")]
        tokens = join_tokens([encoder.tokenise(TEXTS, task, side) for task, side in pairs])
        return tokens, np.concatenate([encode(encoder, TEXTS, task, side) for task, side in pairs])

    return make
