"""Inside the bare system, beside ``tray_host.py``: starts the installed program and is the desktop around it.

Prints one line of JSON; fails when no icon came, when it does not say Connected, or when Quit does not end the program.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

from tray_host import TrayHost, wait_until

PROGRAM = "/usr/bin/agent-hub"


def main() -> int:
    with TrayHost() as host:
        began = time.monotonic()
        child = subprocess.Popen([PROGRAM, "demo"])
        try:
            icon = host.wait_for_icon()
            shown = time.monotonic() - began
            wait_until(lambda: "Connected" in str(host.property(icon, "ToolTip")), "it never said Connected")
            entries = sorted(host.menu(icon))
            host.click(icon, "Quit")
            code = child.wait(30)
        finally:
            if child.poll() is None:
                child.kill()
                child.wait(10)
    sys.stdout.write(json.dumps({"icon_after_s": round(shown, 2), "menu": entries, "exit_code": code}) + "\n")
    return 0 if code == 0 and {"Quit", "Pause"} <= set(entries) else 1


if __name__ == "__main__":
    raise SystemExit(main())
