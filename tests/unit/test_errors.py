"""An error is one line: where, what, what to do."""

from __future__ import annotations

from sectioncls import errors


def test_one_line():
    error = errors.InputError("lacks a tab\nin two lines", "file.txt:3", "add one")
    assert str(error) == "file.txt:3: lacks a tab in two lines (add one)"
    assert (error.what, error.where, error.todo) == ("lacks a tab\nin two lines", "file.txt:3", "add one")


def test_every_kind_is_drawn_in_the_tree():
    for name in errors.__all__:
        assert name in errors.__doc__
        assert issubclass(getattr(errors, name), errors.SectionclsError)


def test_a_rejection_keeps_its_reason():
    error = errors.DocumentRejected("no-body", "a stub", "x.xml")
    assert (error.reason, error.detail, str(error)) == ("no-body", "a stub", "x.xml: no-body: a stub")
