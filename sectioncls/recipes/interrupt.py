"""Ctrl-C at a safe place: half a step can't be resumed."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["held_interrupt"]


@contextmanager
def held_interrupt() -> Iterator[Callable[[], bool]]:
    """Hold back a first Ctrl-C and give the question whether it came; a second one interrupts at once.

    Signals reach the main thread only: elsewhere the answer is always no.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    pressed = False

    def hold(number: int, frame: Any) -> None:
        nonlocal pressed
        if pressed:
            raise KeyboardInterrupt
        pressed = True

    before = signal.signal(signal.SIGINT, hold)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, before)
