"""The command line. Parses, chooses the command, and turns every HubError into two plain lines.

Commands are imported when they run: ``agent-hub --version`` must not pay for Qt, Telegram or pydantic. Nothing here
can allow a pending request: an agent with a shell would approve itself.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

Command = Callable[[argparse.Namespace], int]


def version() -> str:
    """The version of the installed distribution; a source tree without one says so."""
    from importlib import metadata

    try:
        return metadata.version("agent-hub")
    except metadata.PackageNotFoundError:
        return "0 (not installed)"


def _run(args: argparse.Namespace) -> int:
    from app.running import run_command

    return run_command(args.settings, args.data_dir, headless=args.headless, verbose=args.verbose)


def _demo(args: argparse.Namespace) -> int:
    from app.demo import demo_command

    return demo_command(
        agent=args.agent,
        is_check=args.check,
        as_json=args.json,
        headless=args.headless,
        language=args.language,
        data_dir=args.data_dir,
        settings_file=args.settings,
    )


def _render(args: argparse.Namespace) -> int:
    from app.render import render_command

    return render_command(args.file, as_json=args.json, preview=args.preview)


def _agents(args: argparse.Namespace) -> int:
    from app.agents_report import agents_command

    return agents_command(args.settings, args.data_dir, as_json=args.json)


def _doctor(args: argparse.Namespace) -> int:
    from app.doctor import doctor_command

    return doctor_command(args.settings, args.data_dir, as_json=args.json)


def _setup(args: argparse.Namespace) -> int:
    from app.setup_terminal import setup_command

    return setup_command(args.settings, args.data_dir)


def _service(args: argparse.Namespace) -> int:
    from app.service_units import service_command

    return service_command(args.kind)


def _snapshots(args: argparse.Namespace) -> int:
    from app.snapshots import snapshots_command

    return snapshots_command(args.action, args.data_dir, file=args.file, names=args.name, as_json=args.json)


def _token(args: argparse.Namespace) -> int:
    from app.token_entry import token_command

    return token_command(args.data_dir, forget=args.forget, allow_plaintext=args.plaintext)


def _audit(args: argparse.Namespace) -> int:
    from app.records_report import audit_command

    return audit_command(args.data_dir, since=args.since, as_json=args.json)


def _approvals(args: argparse.Namespace) -> int:
    from app.records_report import approvals_command

    return approvals_command(args.data_dir, as_json=args.json)


def _lock(args: argparse.Namespace) -> int:
    from app.lock_setup import lock_setup_command

    return lock_setup_command(args.data_dir)


def _add(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, run: Command, help_: str
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=help_, description=help_)
    command.set_defaults(run=run)
    return command


def parser() -> argparse.ArgumentParser:
    """The whole grammar of the command line."""
    top = argparse.ArgumentParser(prog="agent-hub", description="Work with coding agents from your phone.")
    top.add_argument("--version", action="version", version=f"agent-hub {version()}")
    top.add_argument("--settings", type=Path, metavar="FILE", help="use this settings file")
    top.add_argument("--data-dir", type=Path, metavar="DIR", help="keep everything of this instance in DIR")
    top.add_argument("--verbose", action="store_true", help="log at DEBUG")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)

    run = _add(commands, "run", _run, "start the hub (tray and window, or --headless)")
    run.add_argument("--headless", action="store_true", help="no tray, no window")

    _add(commands, "setup", _setup, "set up bot, group, people and folders, step by step")

    demo = _add(commands, "demo", _demo, "try everything with a simulated Telegram, no account needed")
    demo.add_argument("--check", action="store_true", help="play the person too, print one line per step, then end")
    demo.add_argument("--agent", default="demo", metavar="NAME", help="an installed agent instead of the demo agent")
    demo.add_argument("--json", action="store_true", help="with --check: one JSON document")
    demo.add_argument("--headless", action="store_true", help="no tray, no window: only the phone page's address")
    demo.add_argument("--language", choices=("en", "ru"), default="en")

    render = _add(commands, "render", _render, "show how a Markdown answer becomes Telegram messages")
    render.add_argument("file", metavar="FILE", help="a Markdown file, or - for standard input")
    render.add_argument("--json", action="store_true", help='print [{"html": ..., "text": ...}, ...]')
    render.add_argument("--preview", type=Path, metavar="OUT.html", help="write the messages as phone bubbles")

    agents = _add(commands, "agents", _agents, "list the coding agents on this computer")
    agents.add_argument("--json", action="store_true")

    doctor = _add(commands, "doctor", _doctor, "check everything the hub needs and say what to do")
    doctor.add_argument("--json", action="store_true")

    service = _add(commands, "service", _service, "print a unit file for a hub without a desktop")
    service.add_argument("action", choices=("print",))
    service.add_argument("--kind", choices=("systemd", "launchd", "windows"), help="default: this system's")

    snapshots = _add(commands, "snapshots", _snapshots, "list saved sessions, carry them to another computer")
    snapshots.add_argument("action", choices=("list", "export", "import"))
    snapshots.add_argument("file", nargs="?", type=Path, metavar="FILE", help="the parcel to write or to read")
    snapshots.add_argument("--name", action="append", default=[], help="export: only this one (may be repeated)")
    snapshots.add_argument("--json", action="store_true", help="list: one JSON document")

    token = _add(commands, "token", _token, "keep the bot token in the system's keyring")
    token.add_argument("--forget", action="store_true", help="delete the stored token")
    token.add_argument("--plaintext", action="store_true", help="agree to a file that only you can read")

    audit = _add(commands, "audit", _audit, "print who decided what, when, and whether the agent got it")
    audit.add_argument("--json", action="store_true")
    audit.add_argument("--since", default="", metavar="TIME", help="30m, 2h, 3d, 1w, or a date like 2026-11-30")

    approvals = _add(commands, "approvals", _approvals, "list what waits for a decision (only lists)")
    approvals.add_argument("action", choices=("list",))
    approvals.add_argument("--json", action="store_true")

    lock = _add(commands, "lock", _lock, "set up the second factor: codes of an authenticator app")
    lock.add_argument("action", choices=("setup",))
    return top


def speak(settings_file: Path | None, data_dir: Path | None) -> None:
    """Use the language that the settings name, before anything is said; looks at nothing else in the file."""
    import tomllib

    from app.paths import folders

    file = settings_file or folders(data_dir).settings_file
    try:
        hub = tomllib.loads(file.read_text(encoding="utf-8-sig")).get("hub")
    except (OSError, ValueError, RecursionError):  # the command itself says what is wrong with the file
        return
    if isinstance(hub, dict) and isinstance(hub.get("language"), str):
        from bridge.texts import set_language

        set_language(hub["language"])


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code.

    0 fine, 1 a named problem, 2 wrong usage, 130 interrupted, 141 nobody reads the output any more.
    """
    try:
        return _one_command(argv)
    except KeyboardInterrupt:
        return 130


def _one_command(argv: Sequence[str] | None) -> int:
    args = parser().parse_args(argv)
    # Not before: --version was answered by the parser and pays for nothing of the hub.
    from agents.contract import HubError
    from app.console import OutputGoneError, open_streams
    from app.mishaps import say_error, say_fault

    open_streams()
    try:
        speak(args.settings, args.data_dir)
        return int(args.run(args))
    except HubError as error:
        return say_error(error, verbose=args.verbose)
    except OutputGoneError:
        return 141
    except Exception as error:  # noqa: BLE001 - the outermost edge: said to the person, with its traceback kept
        return say_fault(error, verbose=args.verbose)
