# SPDX-License-Identifier: Apache-2.0
"""A progress bar on stderr."""

import sys
import time
from typing import Optional


def wanted(show_progress_bar: Optional[bool]) -> bool:
    """None: as sentence-transformers, if the logger "embert" is at INFO or below. Nobody has set it who has not imported
    logging."""
    if show_progress_bar is not None:
        return show_progress_bar
    logging = sys.modules.get("logging")
    return logging is not None and logging.getLogger("embert").getEffectiveLevel() <= logging.INFO


class Bar:
    """Shows lines such as `Texts:  40%  4,000/10,000  0:03`; nothing if it is not wanted."""

    def __init__(self, name: str, is_shown: bool) -> None:
        self._name = name
        self._is_shown = is_shown
        self._begun = time.monotonic()
        self._open = False

    def show(self, done: float, total: float, unit: str = "") -> None:
        if not self._is_shown:
            return
        share = done / total if total else 1.0
        seconds = int(time.monotonic() - self._begun)
        sys.stderr.write(f"\r{self._name}: {share:4.0%}  {unit}  {seconds // 60}:{seconds % 60:02}\x1b[K")
        sys.stderr.flush()
        self._open = True

    def end(self) -> None:
        if self._open:
            sys.stderr.write("\n")
            sys.stderr.flush()
