"""fastText averages: vectors of words and of their letter groups, averaged over a text by how rare a word is.

Paper: Bojanowski et al., arXiv 1607.04606, as gensim has it (skip-gram). SPECTER (arXiv 2004.07180, table 1) and SciNCL
print a row "Fasttext-Sum", a weighted sum of word vectors that were learnt on a very large body of papers. Ours are
learnt on the training papers of the set at hand, and weighted by the inverse document frequency there. A word that is
not among them is read by its letter groups and weighs as the rarest. Rounds (15, of 5 and 15) and the words' vectors as
they are, not at unit length, were chosen on the dev papers of one set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sectioncls.downstream.words import TextEmbedder, gensim_models, unit_rows, word_lists, words_of

__all__ = ["train_fasttext"]

# Letter groups share so many rows: gensim's two million are 800 MB at 100 dimensions.
BUCKETS = 100_000


def train_fasttext(
    texts: Sequence[str],
    seed: int,
    *,
    dimensions: int = 100,
    epochs: int = 15,
    least: int = 2,
    window: int = 5,
) -> TextEmbedder:
    """Learn word vectors from ``texts`` and give what turns any texts into unit rows, (texts, ``dimensions``).

    Words that occur fewer than ``least`` times are learnt by their letter groups only. One thread, so that a seed gives
    the same bytes. Raises InputError for texts without words, UsageError without gensim.
    """
    models = gensim_models()
    lists = word_lists(texts)
    counts = sum(len(words) for words in lists)
    model = models.FastText(
        [words for words in lists if words],
        sg=1,
        vector_size=dimensions,
        epochs=epochs,
        min_count=least if counts > least * 1000 else 1,
        window=window,
        bucket=BUCKETS,
        seed=seed,
        workers=1,
    )
    borne = Counter(word for words in lists for word in set(words))
    rarest = float(np.log(1 + len(lists)))
    weights = {word: float(np.log((1 + len(lists)) / (1 + count))) for word, count in borne.items()}
    known: dict[str, npt.NDArray[np.float32]] = {}

    def embed(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        rows = np.zeros((len(texts), dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for word, count in Counter(words_of(text)).items():
                if word not in known:
                    known[word] = model.wv.get_vector(word)
                rows[row] += np.float32(count * weights.get(word, rarest)) * known[word]
        return unit_rows(rows)

    return embed
