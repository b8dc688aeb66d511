"""What is left when the program dies of an error: one file with the traceback, without tokens, keys or prompts.

Only the newest five are kept. A fault inside Qt or the interpreter (abort, segmentation fault) leaves its stacks in
``fault.log`` through faulthandler.
"""

from __future__ import annotations

import faulthandler
import logging
import platform
import sys
import threading
import traceback
from datetime import datetime
from pathlib import Path
from types import TracebackType

from app.logs import redactor

log = logging.getLogger(__name__)

KEPT = 5


def report(folder: Path, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> Path:
    """Write one crash file and return it. Local values are left out: they could hold prompts."""
    stamp = datetime.now().astimezone()
    text = "".join(traceback.format_exception(kind, error, trace))
    machine = f"{platform.platform()}, Python {sys.version.split()[0]}"
    head = f"agent-hub crash {stamp.isoformat(timespec='seconds')}\n{machine}\n\n"
    file = folder / f"crash-{stamp:%Y%m%d-%H%M%S-%f}.txt"
    file.write_text(redactor.clean(head + text), encoding="utf-8")
    for old in sorted(folder.glob("crash-*.txt"))[:-KEPT]:
        old.unlink(missing_ok=True)
    return file


def install(folder: Path) -> None:
    """From now on an unhandled error of any thread leaves a crash file in ``folder``."""

    def main_thread(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            return
        try:
            file = report(folder, kind, error, trace)
        except OSError as refused:  # the full disk that ended the program leaves no room for this either
            log.critical("crashed: %s; no crash file: %s", kind.__name__, refused.strerror)
        else:
            log.critical("crashed: %s; see %s", kind.__name__, file)

    def other_thread(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            main_thread(args.exc_type, args.exc_value, args.exc_traceback)

    sys.excepthook = main_thread
    threading.excepthook = other_thread
    faulthandler.enable((folder / "fault.log").open("a", encoding="utf-8"))
