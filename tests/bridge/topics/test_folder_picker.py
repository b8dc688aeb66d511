"""Walking to a folder with buttons, a new folder, a new worktree."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.bridge.pending.stage import Shown
from tests.bridge.topics.stage import Stage, stage
from tests.parts import require_program


def menu(hub: Stage) -> Shown:
    return list(hub.delivery.shown.values())[-1]


def labels(hub: Stage) -> list[str]:
    return [button.label for row in menu(hub).keyboard for button in row]


@pytest.mark.asyncio
async def test_one_message_walks_down_and_the_chosen_folder_is_used(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        (hub.root / "shop" / "front").mkdir(parents=True)
        await hub.say("/cwd")
        count = len(hub.delivery.shown)
        await hub.press(hub.root.name, shown=menu(hub))
        await hub.until(lambda: "📁 shop" in labels(hub))
        await hub.press("shop", shown=menu(hub))
        await hub.until(lambda: "📁 front" in labels(hub))
        await hub.press("front", shown=menu(hub))
        await hub.until(lambda: "front" in menu(hub).part.text)
        await hub.press("Use this folder", shown=menu(hub))
        assert len(hub.delivery.shown) == count
        assert menu(hub).keyboard == ()
        await hub.say("do it")
        assert hub.session.spec.cwd == hub.root / "shop" / "front"


@pytest.mark.asyncio
async def test_many_folders_come_in_pages(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        for number in range(23):
            (hub.root / f"p{number:02}").mkdir()
        await hub.say("/cwd")
        await hub.press(hub.root.name, shown=menu(hub))
        await hub.until(lambda: "📁 p00" in labels(hub))
        assert "Page 1 of 3" in menu(hub).part.text
        await hub.press("▶️", shown=menu(hub))
        await hub.until(lambda: "📁 p10" in labels(hub))
        assert "📁 p00" not in labels(hub)


@pytest.mark.asyncio
async def test_the_walk_up_ends_at_the_root(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("/cwd")
        await hub.press(hub.root.name, shown=menu(hub))
        await hub.until(lambda: "⬆️" in labels(hub))
        await hub.press("⬆️", shown=menu(hub))
        await hub.until(lambda: "Or send /cwd" in menu(hub).part.text)


@pytest.mark.asyncio
async def test_a_folder_that_became_a_link_out_of_the_root_is_refused_when_it_is_pressed(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        (hub.root / "shop").mkdir()
        await hub.say("/cwd")
        await hub.press(hub.root.name, shown=menu(hub))
        await hub.until(lambda: "📁 shop" in labels(hub))
        walked = menu(hub)
        (hub.root / "shop").rmdir()
        (hub.root / "shop").symlink_to(tmp_path)
        await hub.press("shop", shown=walked)
        assert "outside the allowed folders" in hub.last()


@pytest.mark.asyncio
async def test_a_plus_makes_a_new_folder_below_this_one(tmp_path: Path) -> None:
    async with stage(tmp_path) as hub:
        await hub.say("/cwd +blog/2027")
        assert (hub.root / "blog" / "2027").is_dir()
        await hub.say("/cwd +../../../elsewhere")
        assert "outside the allowed folders" in hub.last()


@pytest.mark.asyncio
async def test_a_new_worktree_is_made_beside_the_repository_and_no_hook_runs(tmp_path: Path) -> None:
    git = str(require_program("git"))
    async with stage(tmp_path) as hub:
        shop = hub.root / "shop"
        shop.mkdir()
        make_repository(git, shop)
        await hub.say("/cwd shop")
        await hub.say("/cwd")
        await hub.press("shop", shown=menu(hub))
        await hub.until(lambda: any("New worktree" in label for label in labels(hub)))
        assert "(main)" in menu(hub).part.text
        await hub.press("New worktree", shown=menu(hub))
        await hub.until(lambda: "✅" in menu(hub).part.text)
        (tree,) = [child for child in hub.root.iterdir() if child != shop]
        assert (tree / "a.txt").read_text() == "a"
        assert not (hub.root / "hook-ran").exists()
        await hub.say("do it")
        assert hub.session.spec.cwd == tree


def make_repository(git: str, folder: Path) -> None:
    def run(*arguments: str) -> None:
        who = ("-c", "user.name=Anna", "-c", "user.email=anna@example.test")
        subprocess.run([git, "-C", str(folder), *who, *arguments], check=True, capture_output=True, timeout=30)

    run("init", "-b", "main")
    (folder / "a.txt").write_text("a")
    run("add", "a.txt")
    run("commit", "-m", "begin")
    hook = folder / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {folder.parent / 'hook-ran'}\n")
    hook.chmod(0o755)
