"""Which folders a session may work in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bridge.folders import FolderError, check_folder, choose_folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    (root / "shop").mkdir(parents=True)
    return root


def test_an_absolute_path_below_a_root_is_taken(root: Path) -> None:
    assert choose_folder(str(root / "shop"), [root]) == root / "shop"


def test_a_relative_path_is_looked_for_below_every_root(root: Path, tmp_path: Path) -> None:
    (tmp_path / "other" / "blog").mkdir(parents=True)
    assert choose_folder("blog", [root, tmp_path / "other"]) == tmp_path / "other" / "blog"


def test_the_home_sign_means_the_home_folder(root: Path) -> None:
    assert choose_folder("~/shop", [root], home=root) == root / "shop"


def test_quotes_round_a_path_are_left_out(root: Path) -> None:
    (root / "my shop").mkdir()
    assert choose_folder('"my shop"', [root]) == root / "my shop"


@pytest.mark.parametrize("wish", ["..", "shop/../..", "/", "~/..", "shop/../../other"])
def test_nothing_outside_the_roots_is_taken(root: Path, wish: str) -> None:
    with pytest.raises(FolderError, match=r"outside|no folder"):
        choose_folder(wish, [root], home=root)


def test_a_link_out_of_the_root_is_followed_and_refused(root: Path, tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    (root / "door").symlink_to(tmp_path / "private")
    with pytest.raises(FolderError, match="outside"):
        choose_folder("door", [root])


def test_a_link_inside_the_root_is_followed_to_the_real_folder(root: Path) -> None:
    (root / "alias").symlink_to(root / "shop")
    assert choose_folder("alias", [root]) == root / "shop"


def test_a_loop_of_links_is_said_clearly(root: Path) -> None:
    (root / "a").symlink_to(root / "b")
    (root / "b").symlink_to(root / "a")
    with pytest.raises(FolderError):
        choose_folder("a", [root])


def test_a_root_that_is_a_link_itself_works(root: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(root)
    assert choose_folder("shop", [tmp_path / "alias"]) == root / "shop"


def test_a_sister_folder_with_the_same_beginning_is_outside(root: Path, tmp_path: Path) -> None:
    (tmp_path / "work-private").mkdir()
    with pytest.raises(FolderError, match="outside"):
        choose_folder(str(tmp_path / "work-private"), [root])


def test_a_missing_folder_is_called_missing(root: Path) -> None:
    with pytest.raises(FolderError, match="no folder"):
        choose_folder("nowhere", [root])


def test_a_file_is_called_a_file(root: Path) -> None:
    (root / "notes.txt").touch()
    with pytest.raises(FolderError, match="is a file"):
        choose_folder("notes.txt", [root])


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser may read everything")
def test_an_unreadable_folder_is_called_so(root: Path) -> None:
    (root / "shop").chmod(0)
    try:
        with pytest.raises(FolderError, match="can't be read"):
            check_folder(root / "shop")
    finally:
        (root / "shop").chmod(0o700)


@pytest.mark.parametrize("wish", ["", "  ", "''", "a\0b"])
def test_what_is_no_name_is_refused(root: Path, wish: str) -> None:
    with pytest.raises(FolderError, match="no folder name"):
        choose_folder(wish, [root])


def test_without_roots_nothing_is_allowed(root: Path) -> None:
    with pytest.raises(FolderError, match="No work folder"):
        choose_folder(str(root), [])


def test_a_name_longer_than_the_system_takes_is_said_to_be_missing(root: Path) -> None:
    with pytest.raises(FolderError):
        choose_folder("x" * 5000, [root])
