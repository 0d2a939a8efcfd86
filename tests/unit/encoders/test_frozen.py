from __future__ import annotations

import numpy as np
import pytest
import torch

from sectioncls.encoders import Context, freeze_lowest, keep_lowest, load_encoder
from sectioncls.errors import UsageError

TEXTS = ["we aim to study data", "results", "the background of patients is in the data", "", "show model"]


@pytest.mark.parametrize("context", [None, Context(24, 4)])
def test_kept_states_give_the_same_vectors_and_gradients(tiny_bert, context):
    encoder = load_encoder(tiny_bert, device="cpu", pooling="mean", context=context).eval()
    freeze_lowest(encoder, 1)
    tokens = encoder.read(TEXTS, ["a", "a", "b", "b", "b"], [0, 1, 0, 1, 2])
    kept = keep_lowest(encoder, tokens, 1)
    assert (len(kept), kept.items) == (len(tokens), 5)
    rows = np.arange(len(tokens))[::-1].copy()
    results = []
    for source in (tokens, kept):
        encoder.zero_grad()
        vectors = encoder(source.batch(rows))
        (vectors**2).sum().backward()
        results.append((vectors.detach(), encoder.backbone.encoder.layer[1].output.dense.weight.grad.clone()))
    # Sixteen bits keep three digits.
    torch.testing.assert_close(results[0][0], results[1][0], atol=2e-3, rtol=2e-3)
    torch.testing.assert_close(results[0][1], results[1][1], atol=2e-2, rtol=2e-2)
    np.testing.assert_array_equal(kept.members(rows), tokens.members(rows))


def test_only_what_lies_above_is_trained(tiny_bert):
    encoder = load_encoder(tiny_bert, device="cpu")
    freeze_lowest(encoder, 1)
    trained = {name for name, weight in encoder.backbone.named_parameters() if weight.requires_grad}
    assert trained and all(not name.startswith(("embeddings", "encoder.layer.0.")) for name in trained)


def test_freezing_every_layer_is_refused(tiny_bert):
    with pytest.raises(UsageError, match="all would be frozen"):
        freeze_lowest(load_encoder(tiny_bert, device="cpu"), 2)
