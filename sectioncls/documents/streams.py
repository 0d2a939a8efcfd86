"""Unpacking gzip and xz as streams, within bounds on memory, bytes and ratio."""

from __future__ import annotations

import io
import lzma
import zlib
from collections.abc import Callable
from typing import IO, Any, cast

__all__ = ["Bounded", "Budget", "TooLarge", "unpacked"]

_PIECE = 1 << 18
_FREE = 64 << 20  # unpacked bytes that need no justification
_RATIO = 200  # most that a packed byte may become, beyond that
_XZ_MEMORY = 256 << 20


class TooLarge(Exception):
    """A stream unpacks to more than its bounds."""


class Budget:
    """Counts the bytes that come out of something packed; raises TooLarge when that can't justify them."""

    def __init__(self, packed: int) -> None:
        self._left = _FREE + _RATIO * packed

    def spend(self, size: int) -> None:
        """Count ``size`` bytes more."""
        self._left -= size
        if self._left < 0:
            raise TooLarge(f"unpacks to more than {_RATIO} times its size")


class Bounded:
    """What a stream holds, unpacked if it is gzip or xz, within the budget of its packed size."""

    def __init__(self, stream: IO[bytes], packed: int) -> None:
        self._stream = unpacked(stream)
        self._budget = Budget(packed)
        self._ahead = b""

    def peek(self, size: int) -> bytes:
        """Give the first bytes without taking them; fewer where the stream is shorter."""
        while len(self._ahead) < size and (piece := self._stream.read(size - len(self._ahead))):
            self._ahead += piece
        return self._ahead

    def read(self, size: int) -> bytes:
        """Give up to ``size`` bytes; raises TooLarge, EOFError, zlib.error, lzma.LZMAError."""
        if self._ahead:
            piece, self._ahead = self._ahead[:size], self._ahead[size:]
        else:
            piece = self._stream.read(size)
        self._budget.spend(len(piece))
        return piece


def unpacked(stream: IO[bytes]) -> io.BufferedReader:
    """Give what a stream holds: unpacked where its first bytes say gzip or xz, else as it is."""
    reader = io.BufferedReader(cast(Any, stream), _PIECE)
    head = reader.peek(6)
    if head.startswith(b"\x1f\x8b"):
        return io.BufferedReader(_Unpacked(reader, _Gzip), _PIECE)
    if head.startswith(b"\xfd7zXZ\0"):
        return io.BufferedReader(_Unpacked(reader, _xz), _PIECE)
    return reader


class _Gzip:
    """zlib's unpacker with the names of lzma's."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(31)
        self._rest = b""

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._rest

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        out = self._inner.decompress(self._rest + data, max_length)
        self._rest = self._inner.unconsumed_tail
        return out


def _xz() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)


class _Unpacked(io.RawIOBase):
    """A readable stream of what a packed stream holds; streams behind each other count as one."""

    def __init__(self, source: IO[bytes], make: Callable[[], _Gzip | lzma.LZMADecompressor]) -> None:
        self._source = source
        self._make = make
        self._unpacker = make()
        self._ahead = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        data = self._next(len(view))
        view[: len(data)] = data
        return len(data)

    def _next(self, most: int) -> bytes:
        while True:
            if self._unpacker.eof:
                self._ahead = (self._unpacker.unused_data or self._source.read(_PIECE)).lstrip(b"\0")
                if not self._ahead:
                    return b""
                self._unpacker = self._make()
            piece, self._ahead = self._ahead, b""
            if not piece and self._unpacker.needs_input:
                piece = self._source.read(_PIECE)
                if not piece:
                    raise EOFError("the packed stream ends too early")
            out = self._unpacker.decompress(piece, most)
            if out:
                return out
