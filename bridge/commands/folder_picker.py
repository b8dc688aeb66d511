"""The folder picker: roots and recent folders, a walk through them page by page, a new folder, a new worktree.

One message that changes as the person walks; every step is checked again against the roots.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from agents.contract import HubError
from bridge.commands.git_branch import branch_of
from bridge.folders import FolderError, check_folder, choose_folder, is_inside, resolve
from bridge.sheet import bold, clip, code, lines, row
from bridge.texts import tr
from bridge.topics.topic import Topic
from bridge.worktree import add_worktree, repository_of

FOLDER = "folder"
PAGE = 10
LABEL = 30
LEFT_OUT = frozenset({"node_modules", "__pycache__", "venv", "target", "dist"})

Row = list[tuple[str, str]]


def show_places(topic: Topic, menu: str = "") -> None:
    """Where to begin: the roots and the folders used last."""
    context = topic.context
    folders = list(dict.fromkeys([*context.config.roots, *context.bindings.recent_folders()]))
    shown = [folder for folder in folders if folder.is_dir() and is_inside(resolve(folder), context.config.roots)]
    rows: list[Row] = [[("📁 " + tail(folder), f"open:0:{folder}")] for folder in shown]
    part = lines(
        row(tr("Folder here: "), code(str(topic.binding.cwd)), branch_of(topic.binding.cwd)),
        tr("Or send /cwd and a path. /cwd +name makes a new folder below this one."),
    )
    topic.show_menu(part, context.buttons.grid(topic.place, FOLDER, rows), menu)


async def walk(topic: Topic, value: str, menu: str) -> None:
    """Do what one of the picker's buttons says. Raises HubError."""
    action, _, rest = value.partition(":")
    roots = topic.context.config.roots
    match action:
        case "places":
            show_places(topic, menu)
        case "open":
            page, _, path = rest.partition(":")
            await show_folder(topic, choose_folder(path, roots), int(page), menu)
        case "tree":
            folder = await add_worktree(choose_folder(rest, roots), topic.context.new_id()[:6].lower(), roots)
            await use_folder(topic, folder, menu)
        case _:
            await use_folder(topic, choose_folder(rest, roots), menu)


async def show_folder(topic: Topic, folder: Path, page: int, menu: str) -> None:
    """One page of the folders inside ``folder``."""
    children = await asyncio.to_thread(subfolders, folder)
    shown = children[page * PAGE : (page + 1) * PAGE]
    rows: list[Row] = [[("✅ " + tr("Use this folder"), f"use:{folder}")]]
    entries = [("📁 " + clip(child.name, LABEL), f"open:0:{child}") for child in shown]
    rows += [entries[start : start + 2] for start in range(0, len(entries), 2)]
    rows.append(turning(topic, folder, page, len(children)))
    if repository_of(folder) is not None:
        rows.append([("🌿 " + tr("New worktree of it"), f"tree:{folder}")])
    pages = (len(children) + PAGE - 1) // PAGE
    counted = tr("Page {page} of {pages}", page=page + 1, pages=pages) if pages > 1 else ""
    part = lines(row("📁 ", bold(str(folder)), branch_of(folder)), counted)
    topic.show_menu(part, topic.context.buttons.grid(topic.place, FOLDER, rows), menu)


def turning(topic: Topic, folder: Path, page: int, count: int) -> Row:
    """Up, back and on."""
    is_root = not is_inside(folder.parent, topic.context.config.roots)
    up = ("⬆️", "places:") if is_root else ("⬆️", f"open:0:{folder.parent}")
    turns = [up]
    if page:
        turns.append(("◀️", f"open:{page - 1}:{folder}"))
    if (page + 1) * PAGE < count:
        turns.append(("▶️", f"open:{page + 1}:{folder}"))
    return turns


def subfolders(folder: Path) -> list[Path]:
    """Folders a person may mean, by name; blocks."""
    try:
        return sorted(
            (
                child
                for child in folder.iterdir()
                if not child.name.startswith(".") and child.name not in LEFT_OUT and child.is_dir()
            ),
            key=lambda child: child.name.casefold(),
        )
    except OSError as error:
        raise FolderError(tr("The folder {folder} can't be read.", folder=folder), detail=str(error)) from error


def new_folder(topic: Topic, name: str) -> Path:
    """``/cwd +name``: a folder below the session's own. Raises FolderError."""
    wanted = resolve(topic.binding.cwd / name.strip())
    if not is_inside(wanted, topic.context.config.roots):
        raise FolderError(tr("{folder} is outside the allowed folders.", folder=name))
    try:
        wanted.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FolderError(tr("The folder {folder} could not be made.", folder=wanted), detail=str(error)) from error
    return wanted


async def use_folder(topic: Topic, folder: Path, menu: str = "") -> None:
    """The topic works in ``folder`` from now on, in a new session. Raises HubError during a turn."""
    if topic.is_busy:
        raise HubError(tr("A turn is running."), tr("Wait for its end, or /stop it first."))
    check_folder(folder)
    is_new = folder != topic.binding.cwd
    if is_new:
        await topic.start_afresh(topic.binding.afresh(cwd=folder))
    said = row("✅ ", tr("Folder: "), code(str(folder)), branch_of(folder))
    topic.show_menu(lines(said, tr("A new session begins there.") if is_new else ""), (), menu)


def tail(folder: Path) -> str:
    """As many whole names from the end of a path as a button shows."""
    text = str(folder)
    if len(text) <= LABEL:
        return text
    names: list[str] = []
    for name in reversed(folder.parts):
        if names and len("/".join(names)) + len(name) + 3 > LABEL:
            break
        names.insert(0, clip(name, LABEL - 2))
    return "…/" + "/".join(names)
