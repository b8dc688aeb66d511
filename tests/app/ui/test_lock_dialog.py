"""The lock is set up at the desk: a QR code that a phone can read, and nothing kept before a code proved it."""

from __future__ import annotations

import pyotp
import segno
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from app.ui.lock_dialog import LockDialog, qr_picture
from bridge.lock import provisioning_uri

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


def test_the_picture_holds_the_secret_module_by_module(qtbot: QtBot) -> None:
    text = provisioning_uri(SECRET, "hub")
    image = qr_picture(text, 220, 2.0).toImage()
    wanted = [list(row) for row in segno.make(text, error="m").matrix_iter(border=4)]
    step = image.width() // len(wanted)
    assert image.width() == step * len(wanted), "modules of different width can't be scanned"
    seen = [
        [image.pixelColor(x * step + step // 2, y * step + step // 2) == QColor("black") for x in range(len(wanted))]
        for y in range(len(wanted))
    ]
    assert seen == [[bool(module) for module in row] for row in wanted]


def test_a_wrong_code_keeps_nothing_and_says_so(qtbot: QtBot) -> None:
    dialog = LockDialog("hub", secret=SECRET)
    qtbot.addWidget(dialog)
    dialog.code.setText("000000" if pyotp.TOTP(SECRET).now() != "000000" else "111111")
    with qtbot.assertNotEmitted(dialog.proven):
        dialog.keep.click()
    assert "not right" in dialog.note.text()


def test_a_right_code_hands_over_the_secret_that_was_shown(qtbot: QtBot) -> None:
    dialog = LockDialog("hub", secret=SECRET)
    qtbot.addWidget(dialog)
    assert "JBSW Y3DP" in dialog.typed.text()
    code = pyotp.TOTP(SECRET).now()
    dialog.code.setText(f"{code[:3]} {code[3:]}")
    with qtbot.waitSignal(dialog.proven, timeout=10_000) as caught:
        dialog.keep.click()
    assert caught.args == [SECRET]


def test_every_dialog_makes_a_secret_of_its_own(qtbot: QtBot) -> None:
    one, two = LockDialog("hub"), LockDialog("hub")
    qtbot.addWidget(one)
    qtbot.addWidget(two)
    assert one.typed.text() != two.typed.text()


def test_a_small_screen_never_cuts_the_picture(qtbot: QtBot) -> None:
    dialog = LockDialog("hub", secret=SECRET, is_set_up=True)
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.resize(300, 200)
    shown = dialog.picture.pixmap().deviceIndependentSize()
    assert dialog.picture.height() >= shown.height()
    assert dialog.picture.width() >= shown.width()
