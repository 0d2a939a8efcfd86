"""A linear-chain conditional random field over the sentences of an article.

The probability of a label sequence is ``exp(score)/Z`` with ``score = Σ emission(y_t) + Σ transition(y_{t-1}, y_t)``
and scores of the first and last label (Lafferty, McCallum and Pereira, ICML 2001). Sequences of a batch are padded to
the longest; recursions run over time, in log space.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["LinearChain"]


class LinearChain(nn.Module):
    """Scores of neighbouring labels, learnt; ``classes`` is K.

    ``emissions`` are (S, T, K), ``mask`` (S, T) is true where a sentence stands, from the left of each row.
    """

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.first = nn.Parameter(torch.zeros(classes))
        self.last = nn.Parameter(torch.zeros(classes))
        self.transitions = nn.Parameter(torch.zeros(classes, classes))

    def log_likelihood(self, emissions: Tensor, targets: Tensor, mask: Tensor) -> Tensor:
        """Give the log probability of each row's ``targets`` (S, T), as (S,)."""
        return self._score(emissions, targets, mask) - torch.logsumexp(
            self._forward(emissions, mask)[-1] + self.last, 1
        )

    def decode(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """Give the likeliest label sequence of each row, (S, T); what the mask leaves out is 0. (Viterbi)"""
        best = self.first + emissions[:, 0]
        choices: list[Tensor] = []
        for step in range(1, emissions.shape[1]):
            scores, chosen = (best[:, :, None] + self.transitions).max(1)
            scores = scores - scores.max(1, keepdim=True).values  # a constant a row, or sums would use up the digits
            there = mask[:, step, None]
            best = torch.where(there, scores + emissions[:, step], best)
            # A row that has ended hands its label on unchanged.
            choices.append(torch.where(there, chosen, torch.arange(best.shape[1], device=best.device)))
        label = (best + self.last).argmax(1)
        path = [label]
        for chosen in reversed(choices):
            label = chosen.gather(1, label[:, None]).squeeze(1)
            path.append(label)
        return torch.stack(path[::-1], 1).masked_fill(~mask, 0)

    def marginals(self, emissions: Tensor, mask: Tensor) -> Tensor:
        """Give the probability of every label at every place, (S, T, K). (Forward-backward)"""
        ahead = torch.stack(self._forward(emissions, mask, level=True), 1)
        behind = torch.stack(self._backward(emissions, mask), 1)
        return torch.softmax(ahead + behind, 2)

    def _score(self, emissions: Tensor, targets: Tensor, mask: Tensor) -> Tensor:
        rows = torch.arange(len(targets), device=targets.device)
        emitted = (emissions.gather(2, targets[:, :, None]).squeeze(2) * mask).sum(1)
        moved = (self.transitions[targets[:, :-1], targets[:, 1:]] * mask[:, 1:]).sum(1)
        final = targets[rows, mask.sum(1) - 1]
        return self.first[targets[:, 0]] + emitted + moved + self.last[final]

    def _forward(self, emissions: Tensor, mask: Tensor, *, level: bool = False) -> list[Tensor]:
        """Give, for every place, the log of the summed scores of all ways to each label there, (S, K).

        With ``level`` up to a constant for each place: scores of thousands of sentences would use up the digits.
        """
        states = [self.first + emissions[:, 0]]
        for step in range(1, emissions.shape[1]):
            moved = torch.logsumexp(states[-1][:, :, None] + self.transitions, 1) + emissions[:, step]
            moved = moved.log_softmax(1) if level else moved
            states.append(torch.where(mask[:, step, None], moved, states[-1]))
        return states

    def _backward(self, emissions: Tensor, mask: Tensor) -> list[Tensor]:
        """Give, for every place, the log of the summed scores of all ways from each label there to the end, (S, K).

        Up to a constant for each place, as ``level`` in _forward.
        """
        states = [self.last.expand(len(emissions), -1)]
        for step in range(emissions.shape[1] - 1, 0, -1):
            ways = self.transitions + (emissions[:, step] + states[-1])[:, None, :]
            states.append(torch.where(mask[:, step, None], torch.logsumexp(ways, 2).log_softmax(1), states[-1]))
        return states[::-1]
