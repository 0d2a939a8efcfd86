from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from sectioncls.errors import InputError, UsageError
from sectioncls.schemes import SCHEMES, label_of, load_scheme

ORDERS = {
    "csabstruct": ("background", "objective", "method", "result", "other"),
    "imrad": ("introduction", "method", "result", "discussion", "other"),
    "pubmed-rct": ("background", "objective", "method", "result", "conclusion"),
    "pmc-sents": ("other", "objective", "method", "result", "background"),
    "nicta-piboso": ("background", "population", "intervention", "outcome", "study-design", "other"),
}
MINE = """
name = "barn"
labels = ["who", "how", "rest"]
default = "rest"
required = ["who", "how"]

[headings]
method = "how"

[words]
who = ["herd(s)", "patients"]

[sec_types]
Animals = "who"
"""


def written(folder: Path, text: str) -> str:
    file = folder / "mine.toml"
    file.write_text(text, encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("name", sorted(SCHEMES))
def test_the_order_of_labels_gives_their_ids(name: str) -> None:
    scheme = load_scheme(name)
    assert scheme.name == name
    assert scheme.about
    assert scheme.labels == ORDERS[name]
    assert [scheme.id(label) for label in scheme.labels] == list(range(len(scheme.labels)))
    assert set(scheme.aliases.values()) <= set(scheme.labels)


def test_other_spellings_name_the_same_label() -> None:
    assert load_scheme("pubmed-rct").label(" METHODS ") == "method"
    assert load_scheme("pubmed-rct").label("CONCLUSIONS") == "conclusion"
    assert load_scheme("nicta-piboso").label("study design") == "study-design"


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UsageError, match="pmc-sents"):
        load_scheme("nothing")
    with pytest.raises(InputError, match="csabstruct"):
        load_scheme("csabstruct").label("prelude")
    with pytest.raises(UsageError, match="no rules"):
        load_scheme("nicta-piboso").heading_rules()


def test_a_scheme_of_ones_own(tmp_path: Path) -> None:
    scheme = load_scheme(written(tmp_path, MINE))
    assert (scheme.name, scheme.labels) == ("barn", ("who", "how", "rest"))
    assert scheme.heading_rules().required == {"who", "how"}
    assert label_of([("The herd", None)], scheme) == ("who", "title:The herd")
    assert label_of([("Two herds, methods", None)], scheme)[0] == "who"
    assert label_of([("Methods", None)], scheme)[0] == "how"
    # One's own word counts before the shared list, where "patients" is a method.
    assert label_of([("Patients", None)], scheme)[0] == "who"
    assert label_of([("X", "animals")], scheme) == ("who", "sec-type:animals")
    assert label_of([("Results", "results")], scheme) == ("rest", "none")


def test_a_scheme_travels_by_what_it_was_loaded_from(tmp_path: Path) -> None:
    for name in ("imrad", written(tmp_path, MINE)):
        assert pickle.loads(pickle.dumps(load_scheme(name))) is load_scheme(name)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "barn"', "", "no name"),
        ('name = "barn"', 'name = "imrad"', "one of ours"),
        ('"rest"]', '"who"]', "each once"),
        ('labels = ["who", "how", "rest"]', 'labels = "who"', "list of labels"),
        ('default = "rest"', 'default = "wo"', "'wo', which is no label .did you mean 'who'"),
        ("[headings]", "[heading]", "unknown key 'heading' .did you mean 'headings'"),
        ('method = "how"', 'methods = "how"', "no list 'methods' .did you mean 'method'"),
        ('method = "how"', 'method = "whom"', "'whom', which is no label"),
        ('who = ["herd(s)", "patients"]', 'who = "herd"', "not a list of words"),
        ('who = ["herd(s)", "patients"]', 'who = ["..."]', "not a list of words"),
        ('who = ["herd(s)", "patients"]', 'who = ["herd"]\nhow = ["herd(s)"]', "'herd' to who and to how"),
        ('default = "rest"', 'order = ["sectype"]', "order must be some of title, sec-type"),
        ('required = ["who", "how"]', "required = [1]", "1, which is no label"),
        ('default = "rest"', "aliases = 3", "must map words to labels"),
        ("[headings]", "[headings", "not TOML"),
    ],
)
def test_what_is_wrong_in_a_file_is_said(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in MINE
    with pytest.raises(InputError, match=said) as caught:
        load_scheme(written(tmp_path, MINE.replace(old, new)))
    assert "mine.toml" in str(caught.value)


def test_a_file_that_can_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="missing"):
        load_scheme(str(tmp_path / "nowhere.toml"))
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(InputError, match="can't be read"):
        load_scheme(str(tmp_path / "folder.toml"))
    (tmp_path / "bytes.toml").write_bytes(b'name = "\xff"')
    with pytest.raises(InputError, match="not TOML"):
        load_scheme(str(tmp_path / "bytes.toml"))
    with pytest.raises(InputError, match="names no heading"):
        load_scheme(written(tmp_path, 'name = "a"\nlabels = ["b", "c"]\ndefault = "b"\n'))
