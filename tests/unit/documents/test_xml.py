from __future__ import annotations

import time

import pytest

from sectioncls.documents.xml import MAX_BYTES, parse
from sectioncls.errors import DocumentRejected


def text_of(data: bytes) -> str:
    return "".join(parse(data).itertext())


def reason_of(data: bytes) -> str:
    begin = time.perf_counter()
    with pytest.raises(DocumentRejected) as caught:
        parse(data)
    assert time.perf_counter() - begin < 5
    return caught.value.reason


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"<a>caf&eacute; &mu;&nbsp;&Thetas;&agr;&b.beta; &lt;&amp;</a>", "café μ\u00a0Θαβ <&"),
        (b"<a><![CDATA[&eacute; <]]><!-- &nope; --><?p &nope;?></a>", "&eacute; <"),
        (b'<a x="&LT;&QUOT;">&AMP;</a>', "&"),
        (b'<!DOCTYPE a [<!ENTITY x "y&#38;amp;">]><a>&x;&x;</a>', "y&y&"),
        (b"<!DOCTYPE a [<!ENTITY x '<b>y</b>'><!ENTITY z \"&x;&eacute;\">]><a>&z;</a>", "yé"),
        (b'<!DOCTYPE a [<!ENTITY x "1"><!ENTITY x "2"><!ENTITY eacute "E">]><a>&x;&eacute;</a>', "1E"),
        (b'<!DOCTYPE a [ <!-- ]> "\' --> <?p ]>?> <!ELEMENT a ANY><!ATTLIST a x CDATA "]>"> ]><a>k</a>', "k"),
        (b'<!DOCTYPE a SYSTEM "http://nowhere.invalid/[x].dtd" [<!ENTITY % p "q">]><a>&deg;</a>', "°"),
        ("\ufeff<a>é</a>".encode(), "é"),
        ('<?xml version="1.0" encoding="UTF-16"?><a>µ–&eacute;</a>'.encode("utf-16"), "µ–é"),
        ("\ufeff<a>µ</a>".encode("utf-16-be"), "µ"),
        ('<?xml version="1.0" encoding="windows-1251"?><a>Ж</a>'.encode("cp1251"), "Ж"),
        (b"<a>" * 256 + b"k" + b"</a>" * 256, "k"),
    ],
)
def test_text_is_read_as_its_characters(data: bytes, text: str) -> None:
    assert text_of(data) == text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b" \n ", "empty"),
        (b'{"a": 1}', "not-jats"),
        (b"%PDF-1.7", "not-jats"),
        (b"<!doctype HTML><p>x<br></p>", "not-jats"),
        (b"<!-- x --><html><br></html>", "not-jats"),
        (b"<a>", "malformed"),
        (b"<a>&nope;</a>", "malformed"),
        (b"<a>&#1;</a>", "malformed"),
        (b"<a>\xff</a>", "malformed"),
        (b"<a>\x01</a>", "malformed"),
        (b'<?xml version="1.0" encoding="no-such"?><a/>', "malformed"),
        (b'<?xml version="1.0" encoding="utf-16"?><a/>', "malformed"),
        (b"\xff\xfe<\x00a\x00>\x00x", "malformed"),
        (b"<!DOCTYPE a [<!ENTITY x 'y'", "malformed"),
        (b"<!DOCTYPE a [<!ENTITY x>]><a/>", "malformed"),
        (b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///x">]><a/>', "unsafe-entity"),
        (b'<!DOCTYPE a [<!ENTITY x PUBLIC "p" "q" NDATA n>]><a/>', "unsafe-entity"),
        (b'<!DOCTYPE a [<!ENTITY % x SYSTEM "x">]><a/>', "unsafe-entity"),
        (b'<!DOCTYPE a [<!ENTITY % x "y"> %x;]><a/>', "unsafe-entity"),
        (b'<!DOCTYPE a [<!ENTITY x "&x;">]><a>&x;</a>', "unsafe-entity"),
        (b'<!DOCTYPE a [<!ENTITY x "%s">]><a>%s</a>' % (b"y" * 1000, b"&x;" * 1001), "unsafe-entity"),
        (b"<a>" * 257 + b"</a>" * 257, "too-deep"),
        (b"<a>" * 100_000, "too-deep"),
        (b"<a>" + b"x" * 11_000_000 + b"</a>", "too-large"),
        (b"<a>" + b"<b/>" * 2_000_001 + b"</a>", "too-large"),
        (b" " * (MAX_BYTES + 1), "too-large"),
    ],
    ids=lambda value: value[:40].decode("latin-1") if isinstance(value, bytes) else value,
)
def test_what_can_not_be_read_is_refused_with_its_reason(data: bytes, reason: str) -> None:
    assert reason_of(data) == reason


def test_entities_may_stand_five_deep_and_no_more() -> None:
    def nested(depth: int) -> bytes:
        rows = b'<!ENTITY e1 "x">' + b"".join(b'<!ENTITY e%d "&e%d;">' % (n, n - 1) for n in range(2, depth + 1))
        return b"<!DOCTYPE a [%s]><a>&e%d;</a>" % (rows, depth)

    assert text_of(nested(5)) == "x"
    assert reason_of(nested(6)) == "unsafe-entity"


def test_entities_of_nothing_do_not_take_for_ever() -> None:
    rows = b'<!ENTITY e0 ""><!ENTITY e1 "%s"><!ENTITY e2 "%s">' % (b"&e0;" * 10_000, b"&e1;" * 10_000)
    assert text_of(b"<!DOCTYPE a [%s]><a>%s</a>" % (rows, b"&e2;" * 1000)) == ""


@pytest.mark.parametrize("piece", [b"<![CDATA[", b"<!--", b"<?x ", b"&a", b"<!DOCTYPE a [", b'<!DOCTYPE a "', b"&amp;"])
def test_repeated_beginnings_take_linear_time(piece: bytes) -> None:
    reason_of(b"<a>&eacute;" + piece * 300_000)
    reason_of(b"<" + piece * 300_000)
    reason_of(b"<!DOCTYPE a [" + piece * 300_000)
