"""Articles in, labelled sentences out."""

from sectioncls.predict.clustered import label_on_ray
from sectioncls.predict.label import SectionModel, load_model, sentences_of
from sectioncls.predict.sources import Given, read_given
from sectioncls.predict.stream import Labelled, label_stream, rows_of
from sectioncls.predict.view import article_page, write_page

__all__ = [
    "Given",
    "Labelled",
    "SectionModel",
    "article_page",
    "label_on_ray",
    "label_stream",
    "load_model",
    "read_given",
    "rows_of",
    "sentences_of",
    "write_page",
]
