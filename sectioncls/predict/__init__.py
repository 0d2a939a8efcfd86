"""Articles in, labelled sentences out."""

from sectioncls.predict.label import SectionModel, load_model

__all__ = ["SectionModel", "load_model"]
