"""Hostile documents through the verbs with every socket blocked: nothing is fetched, nothing escapes the output."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

# connect, name lookup and creation of sockets all fail, and say so on the way.
BLOCKED = """
import socket, sys
def blocked(*arguments, **more):
    sys.stderr.write("NETWORK TOUCHED\\n")
    raise OSError("blocked")
socket.socket.connect = socket.socket.connect_ex = socket.socket.sendto = blocked
socket.getaddrinfo = socket.gethostbyname = socket.create_connection = blocked
from sectioncls.cli import main
main()
"""
GOOD = b"<article><body><sec><title>Methods</title><p>We counted sheep.</p></sec></body></article>"
HOSTILE = {
    "entity.xml": b'<!DOCTYPE article [<!ENTITY e SYSTEM "http://127.0.0.1:9/x">]>' + GOOD.replace(b"sheep", b"&e;"),
    "file.xml": b'<!DOCTYPE article [<!ENTITY e SYSTEM "file:///etc/hostname">]>' + GOOD.replace(b"sheep", b"&e;"),
    "dtd.xml": b'<!DOCTYPE article PUBLIC "-//NLM//DTD" "http://127.0.0.1:9/jats.dtd">' + GOOD,
    "parameter.xml": b'<!DOCTYPE article [<!ENTITY % p SYSTEM "http://127.0.0.1:9/p">%p;]>' + GOOD,
    "include.xml": GOOD.replace(
        b"<p>", b'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="http://127.0.0.1:9/" parse="text"/><p>'
    ),
    "style.xml": b'<?xml-stylesheet href="http://127.0.0.1:9/s.xsl" type="text/xsl"?>' + GOOD,
    "bomb.xml": b'<!DOCTYPE a [<!ENTITY a "ha">'
    + b"".join(b'<!ENTITY a%d "%s">' % (i, b"&a%d;" % (i - 1) * 10 if i else b"&a;" * 10) for i in range(12))
    + b"]>"
    + GOOD.replace(b"sheep", b"&a11;"),
    "deep.xml": GOOD.replace(b"sheep", b"<b>" * 10_000 + b"x" + b"</b>" * 10_000),
    "page.xml": b"<!DOCTYPE html><html><body>404</body></html>",
    "empty.xml": b"",
    "cut.xml": GOOD[:40],
    "latin.xml": GOOD.replace(b"sheep", b"\xff\xfe\xc3"),
}


def call(folder, *arguments):
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-c", BLOCKED, *map(str, arguments)]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.fixture
def hostile(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    secret = folder / "secret.txt"
    secret.write_text("TOP SECRET", encoding="utf-8")
    for name, data in HOSTILE.items():
        (folder / name).write_bytes(data.replace(b"file:///etc/hostname", secret.as_uri().encode()))
    with tarfile.open(folder / "out.tar.gz", "w:gz") as archive:
        for name in ("../../escaped.xml", "/tmp/sectioncls-escaped.xml", "fine.xml"):
            entry = tarfile.TarInfo(name)
            entry.size = len(GOOD)
            archive.addfile(entry, io.BytesIO(GOOD))
        link = tarfile.TarInfo("link.xml")
        link.type, link.linkname = tarfile.SYMTYPE, str(secret)
        archive.addfile(link)
    with zipfile.ZipFile(folder / "out.zip", "w") as archive:
        archive.writestr("../escaped.xml", GOOD)
        archive.writestr("inner.tar.gz", b"an archive inside an archive")
    (folder / "bomb.xml.gz").write_bytes(gzip.compress(b"<article>" + b" " * (200 << 20)))
    (folder / "gone.xml").symlink_to(str(secret))
    os.mkfifo(folder / "pipe.xml")
    return folder


def test_building_and_reading_stay_at_home(hostile, tmp_path):
    built = call(tmp_path, "build-pmc", "--xml", hostile, "-o", "c", "--require", "none", "--jobs", "2", "--json")
    assert built.returncode == 0, built.stderr
    assert "NETWORK TOUCHED" not in built.stderr
    rejected = [json.loads(line) for line in (tmp_path / "c" / "rejected.jsonl").read_text("utf-8").splitlines()]
    reasons = {row["source"].rpartition("/in/")[2]: row["reason"] for row in rejected}
    for name, reason in {
        "entity.xml": "unsafe-entity",
        "file.xml": "unsafe-entity",
        "parameter.xml": "unsafe-entity",
        "bomb.xml": "unsafe-entity",
        "deep.xml": "too-deep",
        "page.xml": "not-jats",
        "empty.xml": "empty",
        "cut.xml": "malformed",
        "latin.xml": "malformed",
        "gone.xml": "unreadable",
        "pipe.xml": "unreadable",
        "out.tar.gz!../../escaped.xml": "unreadable",
        "out.tar.gz!/tmp/sectioncls-escaped.xml": "unreadable",
        "out.tar.gz!link.xml": "unreadable",
        "out.zip!../escaped.xml": "unreadable",
        "out.zip!inner.tar.gz": "unreadable",
    }.items():
        assert reasons.get(name) == reason, (name, reasons.get(name))
    assert reasons["bomb.xml.gz"] == "too-large"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c", "in"]
    assert not Path("/tmp/sectioncls-escaped.xml").exists()

    files = [hostile / name for name in HOSTILE]
    read = call(tmp_path, "read", *files, "--json")
    assert read.returncode == 0 and "NETWORK TOUCHED" not in read.stderr
    status = [json.loads(line)["status"] for line in read.stdout.splitlines()]
    assert (status.count("ok"), len(status)) == (3, len(HOSTILE))
    assert "TOP SECRET" not in read.stdout


def test_other_verbs_stay_at_home(demo, tmp_path):
    assert call(tmp_path, "build-csabstruct", demo / "csabstruct", "-o", "c").returncode == 0
    for arguments in (("stats", "c"), ("labels", "explain", "Methods"), ("labels", "list")):
        done = call(tmp_path, *arguments)
        assert done.returncode == 0 and "NETWORK TOUCHED" not in done.stderr, arguments
