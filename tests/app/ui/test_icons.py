"""Icons: cheap to ask for, and as templates for the Mac's menu bar still different from each other."""

from __future__ import annotations

import itertools

import pytest
from pytestqt.qtbot import QtBot

from app.health import Light
from app.ui.icons import light_icon, template


def coverage(light: Light) -> list[bool]:
    image = template(light_icon(light)).pixmap(32, 32).toImage()
    return [image.pixelColor(x, y).alpha() > 127 for y in range(32) for x in range(32)]


def test_a_template_has_no_colour_and_says_that_it_is_one(qtbot: QtBot) -> None:
    made = template(light_icon(Light.ERROR))
    assert made.isMask()
    image = made.pixmap(32, 32).toImage()
    colours = {image.pixelColor(x, y).rgb() & 0xFFFFFF for y in range(32) for x in range(32)}
    assert colours == {0}


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(Light, 2)))
def test_states_differ_without_their_colours(one: Light, other: Light, qtbot: QtBot) -> None:
    differing = sum(a != b for a, b in zip(coverage(one), coverage(other), strict=True))
    assert differing >= 15


def test_the_sign_is_cut_out_of_its_badge(qtbot: QtBot) -> None:
    image = template(light_icon(Light.ERROR)).pixmap(64, 64).toImage()
    size = image.width()
    assert image.pixelColor(size * 49 // 64, size * 49 // 64).alpha() < 100, "the cross is filled up"


def test_the_same_icon_is_drawn_once(qtbot: QtBot) -> None:
    assert light_icon(Light.PAUSED) is light_icon(Light.PAUSED)
