# SPDX-License-Identifier: Apache-2.0
"""Progress functions of a call that may take long, so that Ctrl-C and exceptions end the call.

Python runs the handler of a signal when it next runs Python code: during a call of the library this is the progress function.
ctypes drops an exception that comes up before a function's first `try`, as that of Ctrl-C does. So during a call the handler
only takes a note, and the progress function calls the real handler.

Handlers run in the main thread only. Calls of other threads have a progress function only where the user gave one: a daemon
thread that comes back to Python while the interpreter ends is ended by Python, which the library's frames would not survive.
"""

import signal
import sys
import threading
from types import FrameType
from typing import Any, Callable, List, Optional

from .library import check


def is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


class Interruptible:
    """One call of the library: `step` runs in its progress function and may raise; `result` gives the exception."""

    def __init__(self) -> None:
        self._error: Optional[BaseException] = None
        self._noted: List[int] = []
        self._handler: Any = None

    def step(self, report: Callable[[], None]) -> int:
        """Calls `report`; returns what the library wants: 0 to go on, 1 to end the call."""
        try:
            self._handle_signal()
            report()
        except BaseException as error:
            self._error = error
            return 1
        return 0

    def run(self, call: Callable[[], int]) -> None:
        """Calls the library and raises what went wrong."""
        self._take_over()
        try:
            result = call()
        finally:
            self._give_back()
        self._handle_signal()
        if self._error is not None:
            try:
                raise self._error
            finally:
                self._error = None  # its traceback leads to the texts, and they to this object: a cycle would keep them
        check(result)

    def _take_over(self) -> None:
        if not is_main_thread():
            return
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler):
            return
        try:
            signal.signal(signal.SIGINT, self._note)
        except ValueError:  # a sub-interpreter may not
            return
        self._handler = handler

    def _give_back(self) -> None:
        # The handler may have set another one, such as SIG_DFL for a second Ctrl-C.
        if self._handler is not None and signal.getsignal(signal.SIGINT) == self._note:
            signal.signal(signal.SIGINT, self._handler)

    def _note(self, number: int, _frame: Optional[FrameType]) -> None:
        self._noted.append(number)

    def _handle_signal(self) -> None:
        while self._noted:
            self._handler(self._noted.pop(), sys._getframe())
