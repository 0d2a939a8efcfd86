"""Which test sentences nobody who learnt the other splits has met."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sectioncls.audit.clean import REASONS, removals
from sectioncls.audit.leaks import LEAKS
from sectioncls.audit.survey import survey_corpus
from sectioncls.corpora import Corpus

__all__ = ["unseen_rows"]


def unseen_rows(corpus: Corpus, split: str = "test") -> npt.NDArray[np.bool_]:
    """Give for each sentence of a split, in the order of its file, whether no other split holds it.

    Held are articles by id or by text, sentences word for word, and near copies, as in the twin that
    ``check --write-clean --keep train`` writes; repeats inside the split stay. Raises InputError as survey_corpus does.
    """
    survey = survey_corpus(corpus, languages=False)
    mine = survey.rows.of(survey.rows.splits.index(split))
    leaks = [REASONS.index(name) for name in LEAKS]
    return ~np.isin(removals(survey, "train")[mine], leaks)
