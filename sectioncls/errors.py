"""Every error that sectioncls raises on purpose.

::

    SectionclsError                 root: what is wrong, where, what to do
    ├── InputError                  a file or corpus that we read is at fault
    │   └── DocumentRejected        one document among many can't be read; it is recorded and counted
    ├── OutputError                 the place that we write to is at fault (exists, full, not ours)
    ├── ModelError                  a model can't be found, reached or trusted
    └── UsageError                  the call itself is wrong (the command line exits with 2)

The command line prints ``str(error)`` as one line and exits with 1 (2 for UsageError)::

    try:
        corpus = open_corpus("c")
    except SectionclsError as error:
        print(error.what, error.where, error.todo)
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "DocumentRejected",
    "InputError",
    "ModelError",
    "OutputError",
    "SectionclsError",
    "UsageError",
]


class SectionclsError(Exception):
    """Root of all our errors: what is wrong, where, and what to do about it."""

    def __init__(self, what: str, where: object = None, todo: str | None = None) -> None:
        self.what = what
        self.where = None if where is None else str(where)
        self.todo = todo
        super().__init__(what, self.where, todo)

    def __str__(self) -> str:
        """One line: ``where: what (todo)``."""
        line = self.what if self.where is None else f"{self.where}: {self.what}"
        line = f"{line} ({self.todo})" if self.todo else line
        return " ".join(line.split())


class InputError(SectionclsError):
    """Raised when something that we were asked to read is missing, unreadable or malformed."""


class DocumentRejected(InputError):
    """Raised by a document reader for one document; builders record it and go on.

    ``reason`` is one of REASONS; ``detail`` says more in words.
    """

    REASONS: ClassVar[frozenset[str]] = frozenset(
        {
            *("empty", "malformed", "not-jats", "not-tei", "not-pubmed", "not-text", "no-body", "no-prose"),
            *("unsafe-entity", "too-deep", "too-large", "unreadable", "needs-grobid", "grobid-failed"),
        }
    )

    def __init__(self, reason: str, detail: str = "", where: object = None) -> None:
        self.reason = reason
        self.detail = detail
        super().__init__(f"{reason}: {detail}" if detail else reason, where)


class OutputError(SectionclsError):
    """Raised when the output place exists already, is not ours, or can't be written."""


class ModelError(SectionclsError):
    """Raised when model weights can't be found, reached or trusted."""


class UsageError(SectionclsError):
    """Raised when arguments contradict each other or name something that does not exist."""
