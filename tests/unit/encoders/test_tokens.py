from __future__ import annotations

import numpy as np
import pytest
import torch

from sectioncls.encoders import Batch, Tokens, join_tokens
from sectioncls.encoders.tokens import put_second
from sectioncls.errors import UsageError


def _tokens(rows, routes=None):
    flat = np.asarray([token for row in rows for token in row], dtype=np.int32)
    offsets = np.cumsum([0, *map(len, rows)])
    return Tokens(flat, offsets, None if routes is None else np.asarray(routes, dtype=np.int32))


def _rows(tokens):
    return [tokens.ids[a:b].tolist() for a, b in zip(tokens.offsets[:-1], tokens.offsets[1:], strict=True)]


def test_joined_tokens_are_all_rows_in_order():
    first, second = [[1, 2, 3], [4]], [[5, 6]]
    joined = join_tokens([_tokens(first, [0, 1]), _tokens([], []), _tokens(second, [3])])
    assert _rows(joined) == first + second
    assert joined.routes.tolist() == [0, 1, 3]
    assert join_tokens([_tokens(first)]).routes is None
    assert len(join_tokens([])) == 0
    with pytest.raises(UsageError, match="only some"):
        join_tokens([_tokens(first, [0, 1]), _tokens(second)])


def test_a_batch_has_the_routes_of_its_rows():
    batch = _tokens([[1, 2], [3], [4, 5, 6]], [2, 0, 1]).batch(np.array([2, 0]))
    assert batch.ids.tolist() == [4, 5, 6, 1, 2]
    assert batch.routes.tolist() == [1, 2] and batch.routes.dtype == torch.int32
    assert _tokens([[1]]).batch(np.array([0])).routes is None
    moved = batch.to("meta")  # another device: the routes stay where rows are grouped
    assert moved.ids.device.type == "meta" and moved.routes.tolist() == [1, 2]
    assert isinstance(moved, Batch)


def test_a_token_is_put_behind_each_rows_first():
    ids, lengths = torch.tensor([7, 1, 2, 7, 7, 3]), torch.tensor([3, 1, 2])
    longer, sizes = put_second(ids, lengths, torch.tensor([50, 51, 52]))
    assert longer.tolist() == [7, 50, 1, 2, 7, 51, 7, 52, 3]
    assert sizes.tolist() == [4, 2, 3]
