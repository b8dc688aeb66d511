"""The usual moves of a developer, each with one name: nox -s lint, type, test, live, ui, bench, texts, docs, bundle."""

from pathlib import Path

import nox

nox.options.sessions = ["lint", "type", "test"]
nox.options.reuse_existing_virtualenvs = True
WORKERS = ("-n", "2")
"""Tests that share a screen, a browser or an agent stay on one of them; see tests/workers.py."""


@nox.session
def lint(session: nox.Session) -> None:
    session.install("ruff>=0.8", "check-jsonschema>=0.33", "zizmor>=1.20")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    workflows = sorted(str(file) for file in Path(".github/workflows").glob("*.yml"))
    session.run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows)
    session.run("zizmor", "--offline", *workflows)


@nox.session(name="type")
def type_(session: nox.Session) -> None:
    session.install("-e", ".[dev]")
    session.run("mypy")


@nox.session
def test(session: nox.Session) -> None:
    """Everything but the real agents, with the coverage floor."""
    session.install("-e", ".[test]")
    session.run("pytest", *WORKERS, "-m", "not live", "--cov", "--cov-report=term:skip-covered", *session.posargs)


@nox.session
def live(session: nox.Session) -> None:
    """The real agent CLIs against scripted models on loopback; those that are not installed are skipped."""
    session.install("-e", ".[test]")
    session.run("pytest", *WORKERS, "tests/live", *session.posargs)


@nox.session
def ui(session: nox.Session) -> None:
    """Window, tray and phone page; needs a display and a session bus."""
    session.install("-e", ".[test]")
    session.run("pytest", "tests/app", "tests/e2e", "-m", "system", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """All benchmarks and their page; or one: nox -s bench -- --quick --only roundtrip."""
    session.install("-e", ".[test]")
    session.run("python", "-m", "tests.benchmarks", "--json", *session.posargs)


@nox.session
def texts(session: nox.Session) -> None:
    """Collect the texts again and compile the catalogues."""
    session.install("babel>=2.16")
    session.run("python", "packaging/texts.py")


@nox.session
def docs(session: nox.Session) -> None:
    """Write the generated pages and hold all pages to the program."""
    session.install("-e", ".[test]")
    session.run("python", "packaging/settings_reference.py")
    session.run("python", "-m", "tests.contract.document")
    session.run("pytest", "-q", "tests/docs", *session.posargs)


@nox.session
def bundle(session: nox.Session) -> None:
    """What people install, for this system: into dist/."""
    session.install(".", "pyinstaller")
    session.run("python", "packaging/build.py", *session.posargs)
