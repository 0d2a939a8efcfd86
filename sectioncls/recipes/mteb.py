"""Section tasks for MTEB: any model that MTEB can load is scored on a corpus folder of ours, without network.

::

    import mteb
    from sectioncls.recipes.mteb import section_tasks

    model = mteb.get_model("sentence-transformers/all-MiniLM-L6-v2")
    result = mteb.evaluate(model, section_tasks("corpora/csabstruct"), cache=None)

The scores are MTEB's own (accuracy, macro F1, V-measure, AMI), by its protocol: logistic regression on a few sentences
of each label, mini-batch k-means on sentences drawn anew. Needs the extra ``mteb``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sectioncls.corpora import Corpus, open_corpus
from sectioncls.errors import InputError, UsageError

try:
    from mteb.abstasks.classification import AbsTaskClassification
    from mteb.abstasks.clustering import AbsTaskClustering
    from mteb.abstasks.task_metadata import TaskMetadata
except ImportError as error:
    raise UsageError("mteb is not installed", "mteb", "pip install 'sectioncls[mteb]'") from error

__all__ = [
    "CSAbstructClassification",
    "CSAbstructClustering",
    "PMCSentsClassification",
    "PMCSentsClustering",
    "PubMedRCTClassification",
    "PubMedRCTClustering",
    "SectionClassification",
    "SectionClustering",
    "section_tasks",
]


def _metadata(name: str, kind: str, what: str, reference: str | None) -> Any:
    """The metadata of a task; where its data lies is told by its corpus."""
    values: dict[str, Any] = {
        "name": f"{name}{kind}",
        "description": f"{kind} of sentences of {what} by their rhetorical role.",
        "reference": reference,
        "dataset": {"path": name, "revision": "local"},
        "type": kind,
        "category": "t2c",
        "modalities": ["text"],
        "eval_splits": ["test"],
        "eval_langs": ["eng-Latn"],
        "main_score": "accuracy" if kind == "Classification" else "v_measure",
        "domains": ["Academic", "Written"],
        "task_subtypes": [],
        "license": None,
        "annotations_creators": None,
        "dialect": [],
        "sample_creation": "found",
        "bibtex_citation": "",
        "prompt": "Identify what the sentence does in its scientific article",
    }
    return TaskMetadata(**values)


_SETS = {
    "CSAbstruct": ("computer science abstracts", "https://arxiv.org/abs/1909.04054"),
    "PubMedRCT": ("abstracts of randomised controlled trials", "https://arxiv.org/abs/1710.06071"),
    "PMCSents": ("full articles of PubMed Central", "https://arxiv.org/abs/2404.00224"),
    "Section": ("scientific articles", None),
}


class SectionClassification(AbsTaskClassification):  # type: ignore[misc,unused-ignore]
    """Which label a sentence has, from the embeddings of some labelled ones.

    ``corpus`` is a corpus folder. ``samples_per_label`` training sentences of each label are drawn ``n_experiments``
    times (MTEB's own 8 and 10); None takes all of train, once.
    """

    metadata = _metadata("Section", "Classification", *_SETS["Section"])

    def __init__(
        self,
        corpus: str | Path | Corpus,
        *,
        samples_per_label: int | None = 8,
        n_experiments: int = 10,
        seed: int = 42,
    ) -> None:
        self.corpus = _opened(corpus, ("train", "test"))
        self.metadata = _at(self.metadata, self.corpus)
        self.samples_per_label = self.corpus.info.sentences if samples_per_label is None else samples_per_label
        self.n_experiments = 1 if samples_per_label is None else n_experiments
        super().__init__(seed=seed)

    data_loaded: bool

    def load_data(self, num_proc: int | None = None, **kwargs: Any) -> None:
        """Read train and test of the corpus."""
        if not self.data_loaded:
            self.dataset = _dataset(self.corpus, ("train", "test"))
            self.data_loaded = True


class SectionClustering(AbsTaskClustering):  # type: ignore[misc,unused-ignore]
    """How far clusters of the test sentences agree with their labels; ``corpus`` is a corpus folder.

    Every sentence is embedded; ``n_clusters`` times as many as ``max_documents_per_cluster`` are drawn with
    replacement and clustered, as MTEB does.
    """

    metadata = _metadata("Section", "Clustering", *_SETS["Section"])
    max_fraction_of_documents_to_embed = None
    max_document_to_embed = None
    input_column_name = "text"
    label_column_name = "label"

    def __init__(self, corpus: str | Path | Corpus, *, seed: int = 42) -> None:
        self.corpus = _opened(corpus, ("test",))
        self.metadata = _at(self.metadata, self.corpus)
        super().__init__(seed=seed)

    data_loaded: bool

    def load_data(self, num_proc: int | None = None, **kwargs: Any) -> None:
        """Read test of the corpus."""
        if not self.data_loaded:
            self.dataset = _dataset(self.corpus, ("test",))
            self.data_loaded = True


class CSAbstructClassification(SectionClassification):
    """CSAbstruct, classification. Paper: arXiv 1909.04054."""

    metadata = _metadata("CSAbstruct", "Classification", *_SETS["CSAbstruct"])


class CSAbstructClustering(SectionClustering):
    """CSAbstruct, clustering. Paper: arXiv 1909.04054."""

    metadata = _metadata("CSAbstruct", "Clustering", *_SETS["CSAbstruct"])


class PubMedRCTClassification(SectionClassification):
    """PubMed RCT, classification. Paper: arXiv 1710.06071."""

    metadata = _metadata("PubMedRCT", "Classification", *_SETS["PubMedRCT"])


class PubMedRCTClustering(SectionClustering):
    """PubMed RCT, clustering. Paper: arXiv 1710.06071."""

    metadata = _metadata("PubMedRCT", "Clustering", *_SETS["PubMedRCT"])


class PMCSentsClassification(SectionClassification):
    """PMC-Sents, classification. Paper: arXiv 2404.00224."""

    metadata = _metadata("PMCSents", "Classification", *_SETS["PMCSents"])


class PMCSentsClustering(SectionClustering):
    """PMC-Sents, clustering. Paper: arXiv 2404.00224."""

    metadata = _metadata("PMCSents", "Clustering", *_SETS["PMCSents"])


_TASKS: dict[str, tuple[type[SectionClassification], type[SectionClustering]]] = {
    "csabstruct": (CSAbstructClassification, CSAbstructClustering),
    "pubmed-rct": (PubMedRCTClassification, PubMedRCTClustering),
    "pmc-sents": (PMCSentsClassification, PMCSentsClustering),
}


def section_tasks(corpus: str | Path | Corpus, *, seed: int = 42) -> list[SectionClassification | SectionClustering]:
    """Give the classification and the clustering task of a corpus folder, by its label scheme.

    Raises InputError for a folder that is no corpus, or one without train or test.
    """
    opened = _opened(corpus, ("train", "test"))
    classification, clustering = _TASKS.get(opened.info.scheme, (SectionClassification, SectionClustering))
    return [classification(opened, seed=seed), clustering(opened, seed=seed)]


def _opened(corpus: str | Path | Corpus, splits: tuple[str, ...]) -> Corpus:
    opened = corpus if isinstance(corpus, Corpus) else open_corpus(corpus)
    for split in splits:
        if not sum(opened.info.counts.get(split, {}).values()):
            raise InputError(f"has no sentence in {split}", opened.path, "the task reads train and test")
    return opened


def _at(metadata: Any, corpus: Corpus) -> Any:
    """The metadata with the corpus's name and fingerprint, by which MTEB keeps results apart."""
    return metadata.model_copy(update={"dataset": {"path": corpus.name, "revision": corpus.info.fingerprint}})


def _dataset(corpus: Corpus, splits: tuple[str, ...]) -> Any:
    """Splits with the columns ``text`` and ``label``, class ids by the corpus's labels."""
    from datasets import ClassLabel, Dataset, DatasetDict, Features, Value

    features = Features({"text": Value("string"), "label": ClassLabel(names=list(corpus.labels))})
    found = {}
    for name in splits:
        rows = corpus.split(name)
        found[name] = Dataset.from_dict({"text": list(rows.texts), "label": rows.labels.tolist()}, features=features)
    return DatasetDict(found)
