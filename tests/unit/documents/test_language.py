from __future__ import annotations

import pytest

from sectioncls.documents.language import article_language, language_code, recognise
from sectioncls.records import Article, Paragraph, Section

TEXTS = {
    "en": "The sheep were counted every morning before they left the barn, and the herd grew over the whole summer.",
    "pt": "As ovelhas foram contadas todas as manhãs antes de saírem do estábulo, e o rebanho cresceu durante o verão.",
    "es": "Las ovejas se contaron cada mañana antes de que salieran del establo, y el rebaño creció durante el verano.",
    "de": "Die Schafe wurden jeden Morgen gezählt, bevor sie den Stall verließen, und die Herde wuchs im Sommer.",
    "fr": "Les moutons ont été comptés chaque matin avant de quitter la bergerie, et le troupeau a grandi tout l'été.",
    "ru": "Овец считали каждое утро перед тем, как они покидали хлев, и стадо росло в течение всего долгого лета.",
    "zh": "每天早晨羊离开羊圈之前我们都会清点它们的数量，整个夏天羊群一直在增长，我们在秋天之前又清点了一次。",
}


def article(body: str, declared: str | None = None, abstract: str = "") -> Article:
    return Article(
        id="a",
        source="a.xml",
        title="",
        abstract=(Section(paragraphs=(Paragraph(abstract),)),),
        body=(Section("Methods", sections=(Section(None, None, (Paragraph(body),)),)),),
        language=declared,
    )


@pytest.mark.parametrize("code", sorted(TEXTS))
def test_languages_are_recognised(code: str) -> None:
    found, probability = recognise(TEXTS[code])
    assert found == code
    assert probability > 0.5
    assert recognise(TEXTS[code]) == (found, probability)


def test_names_in_front_do_not_mislead() -> None:
    names = "Ovidio Paz, Inés Lobo, João Prado and Łukasz Wełna. " * 20
    assert recognise(names + TEXTS["en"] * 60)[0] == "en"


def test_what_is_too_short_or_no_language_is_not_judged() -> None:
    assert recognise("") == (None, 0.0)
    assert recognise("Nine sheep.") == (None, 0.0)
    assert recognise("0.5 12 @cite @table 3 " * 100) == (None, 0.0)


def test_time_does_not_grow_with_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    from sectioncls.documents import language

    seen: list[int] = []

    class Watched:
        def classify(self, text: str) -> tuple[str, float]:
            seen.append(len(text))
            return "en", 0.3

    monkeypatch.setattr(language, "_identifier", Watched)
    recognise(TEXTS["en"] * 10_000)
    assert seen == [303, 2003]  # pieces and the blanks between them


@pytest.mark.parametrize(
    ("declared", "code"),
    [
        ("pt-BR", "pt"),
        ("EN_us", "en"),
        ("eng", "en"),
        ("ger", "de"),
        ("deu", "de"),
        ("nb", "no"),
        (" fr ", "fr"),
        ("english", None),
        ("und", None),
        ("", None),
        ("../x", None),
    ],
)
def test_codes(declared: str, code: str | None) -> None:
    assert language_code(declared) == code


def test_the_declaration_stands_unless_the_text_is_surely_another() -> None:
    agreed = article_language(article(TEXTS["pt"] * 3, "pt-br"))
    assert (agreed.code, agreed.declared, agreed.found, agreed.contradicts) == ("pt", "pt", "pt", False)
    wrong = article_language(article(TEXTS["es"] * 3, "pt"))
    assert (wrong.code, wrong.declared, wrong.found, wrong.contradicts) == ("es", "pt", "es", True)
    short = article_language(article("Nine sheep.", "de"))
    assert (short.code, short.found, short.probability, short.contradicts) == ("de", None, 0.0, False)
    silent = article_language(article(TEXTS["fr"]))
    assert (silent.code, silent.declared, silent.contradicts) == ("fr", None, False)
    assert article_language(article("Nine sheep.")).code is None


def test_the_body_counts_and_the_abstract_only_where_it_says_too_little() -> None:
    assert article_language(article(TEXTS["pt"] * 3, None, TEXTS["en"] * 9)).code == "pt"
    assert article_language(article("Nine.", None, TEXTS["en"])).code == "en"
