"""Looking a corpus over: leaks, repeats, doubtful labels; a twin without them; other splits."""

from sectioncls.audit.check import ARTICLE_CHECKS, CHECKS, check_corpus, failed, quoted
from sectioncls.audit.clean import write_clean
from sectioncls.audit.findings import Finding, Place, many
from sectioncls.audit.label_errors import Suspect, confident_labels, find_label_errors
from sectioncls.audit.rows import ROWS_A_BATCH
from sectioncls.audit.split import split_corpus
from sectioncls.audit.survey import Survey, survey_corpus
from sectioncls.audit.unseen import unseen_rows

__all__ = [
    "ARTICLE_CHECKS",
    "CHECKS",
    "ROWS_A_BATCH",
    "Finding",
    "Place",
    "Survey",
    "Suspect",
    "check_corpus",
    "confident_labels",
    "failed",
    "find_label_errors",
    "many",
    "quoted",
    "split_corpus",
    "survey_corpus",
    "unseen_rows",
    "write_clean",
]
