"""``agent-hub service print``: unit files for a hub without a desktop. Prints only; installing is the person's step.

systemd: a user unit; the token can be given as a credential. launchd: a plist. Windows: XML for Task Scheduler.
"""

from __future__ import annotations

import plistlib
import subprocess
import sys
from collections.abc import Sequence
from enum import StrEnum
from xml.sax.saxutils import escape

from app.autostart import MAC_LABEL, start_command
from app.console import complain, say


class ServiceKind(StrEnum):
    """Which system the unit is for."""

    SYSTEMD = "systemd"
    LAUNCHD = "launchd"
    WINDOWS = "windows"


def native_kind() -> ServiceKind:
    if sys.platform == "win32":
        return ServiceKind.WINDOWS
    return ServiceKind.LAUNCHD if sys.platform == "darwin" else ServiceKind.SYSTEMD


def service_command(kind: str | None) -> int:
    """Print the unit on stdout and how to install it on stderr."""
    chosen = ServiceKind(kind) if kind else native_kind()
    command = [*start_command(), "--headless"]
    text, how = {
        ServiceKind.SYSTEMD: (systemd_unit(command), SYSTEMD_HOW),
        ServiceKind.LAUNCHD: (launchd_plist(command), LAUNCHD_HOW),
        ServiceKind.WINDOWS: (task_xml(command), WINDOWS_HOW),
    }[chosen]
    say(text.rstrip())
    complain(how)
    return 0


SYSTEMD_HOW = (
    "# Save as ~/.config/systemd/user/agent-hub.service, then:\n"
    "#   systemctl --user daemon-reload && systemctl --user enable --now agent-hub && loginctl enable-linger"
)
LAUNCHD_HOW = (
    f"# Save as ~/Library/LaunchAgents/{MAC_LABEL}.plist, then:\n"
    f"#   launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/{MAC_LABEL}.plist"
)
WINDOWS_HOW = "# Save as agent-hub.xml, then: schtasks /create /tn agent-hub /xml agent-hub.xml"


def systemd_quoted(word: str) -> str:
    """One word of ExecStart (systemd.service: C-style quotes, doubled % and $)."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"' if set(word) & set(" \t'\"\\;") else escaped


def systemd_unit(command: Sequence[str]) -> str:
    return f"""[Unit]
Description=agent-hub: coding agents on your phone
After=network-online.target
Wants=network-online.target

[Service]
ExecStart={" ".join(systemd_quoted(word) for word in command)}
Restart=on-failure
RestartSec=5
KillMode=mixed
TimeoutStopSec=30
# The token comes from the keyring; on a server without one use a credential:
#LoadCredential=agent-hub-token:%h/.config/agent-hub/token.cred

[Install]
WantedBy=default.target
"""


def launchd_plist(command: Sequence[str]) -> str:
    values = {
        "Label": MAC_LABEL,
        "ProgramArguments": list(command),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ProcessType": "Background",
    }
    return plistlib.dumps(values).decode("utf-8")


def task_xml(command: Sequence[str]) -> str:
    arguments = escape(subprocess.list2cmdline(list(command[1:])))
    return f"""<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.4" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <Triggers><LogonTrigger><Enabled>true</Enabled></LogonTrigger></Triggers>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure><Interval>PT1M</Interval><Count>3</Count></RestartOnFailure>
  </Settings>
  <Actions><Exec><Command>{escape(command[0])}</Command><Arguments>{arguments}</Arguments></Exec></Actions>
</Task>
"""
