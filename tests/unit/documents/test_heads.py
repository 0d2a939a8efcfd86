from __future__ import annotations

import pytest

from sectioncls.documents.heads import is_head, split_heads
from sectioncls.documents.inline import HEAD_END, HEAD_START


def tagged(text: str) -> str:
    return text.replace("<", HEAD_START).replace(">", HEAD_END)


@pytest.mark.parametrize(
    ("raw", "parts"),
    [
        ("Bees fly.", [(None, "Bees fly.")]),
        ("<Aim:> To fly. <Methods>: Wings.", [("Aim", "To fly. "), ("Methods", "Wings.")]),
        ("Bees. <Results.> Ten.", [(None, "Bees. "), ("Results", "Ten.")]),
        ("the <Results> of ten", [(None, "the Results of ten")]),
        ("Aim: To fly. MATERIALS AND METHODS: Wings.", [("Aim", "To fly. "), ("MATERIALS AND METHODS", "Wings.")]),
        ("Bees: they fly. Note: results: ten.", [(None, "Bees: they fly. Note: results: ten.")]),
        ('"So." <Conclusions> End.', [(None, '"So." '), ("Conclusions", "End.")]),
        (
            "(1) Background: Bees. (2) Materials and methods: Wings. (3) Results: Ten.",
            [("(1) Background", "Bees. "), ("(2) Materials and methods", "Wings. "), ("(3) Results", "Ten.")],
        ),
        ("1. <Aim.> To fly. II) <Results>: Ten.", [("1. Aim", "To fly. "), ("II) Results", "Ten.")]),
        ("It took 5. <Results> Ten.", [(None, "It took 5. "), ("Results", "Ten.")]),
        ("We used (1) <methods> here.", [(None, "We used (1) methods here.")]),
        ("Bees fly. Trial registration: none.", [(None, "Bees fly. "), ("Trial registration", "none.")]),
        ("Two groups of patients were seen: bees.", [(None, "Two groups of patients were seen: bees.")]),
        ("<The patients that came to us> flew.", [(None, "The patients that came to us flew.")]),
    ],
)
def test_heads_of_an_abstract(raw: str, parts: list[tuple[str | None, str]]) -> None:
    assert split_heads(tagged(raw), abstract=True) == parts


def test_heads_of_a_body_stand_tagged_at_the_start() -> None:
    assert split_heads(tagged(" <Aim:> To fly. <Results> Ten."), abstract=False) == [("Aim", "To fly. Results Ten.")]
    assert split_heads("Aim: To fly.", abstract=False) == [(None, "Aim: To fly.")]


@pytest.mark.parametrize(
    ("raw", "head"),
    [
        ("<Methods> We flew.", "Methods"),
        ("<Study design> We flew.", "Study design"),
        ("<Notes on our methods>: We flew.", "Notes on our methods"),
        ("<Notes on our methods> is a book.", None),
        ("<Journal of Experimental Wax>, 3.", None),
    ],
)
def test_a_head_of_a_body_without_a_sign_at_its_end_starts_with_its_category(raw: str, head: str | None) -> None:
    assert split_heads(tagged(raw), abstract=False)[0][0] == head


def test_a_head_is_short_and_maps() -> None:
    assert is_head("Methods")
    assert not is_head("Apis mellifera")
    assert not is_head("Methods " * 20)
