"""Setting up the second factor at the desk: a secret as a QR code, proven by a code of the app before it counts.

The dialog makes the secret and forgets it when it closes; keeping it is the engine's part. A secret that was set up
before is replaced without a code here: who sits at the computer may do that, no command line may.
"""

from __future__ import annotations

import pyotp
import segno
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QPixmap
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app.ui.label import wrapped
from bridge.lock import new_secret, provisioning_uri
from bridge.texts import tr

SIDE = 220
"""Logical pixels of the picture; whole pixels a module are drawn and the rest is the quiet zone."""


def qr_picture(text: str, side: int, ratio: float = 1.0) -> QPixmap:
    """Black on white in every theme: scanners need it, and a border of four modules."""
    matrix = [list(row) for row in segno.make(text, error="m").matrix_iter(scale=1, border=4)]
    pixels = int(side * ratio)
    scale = max(1, pixels // len(matrix))
    image = QImage(len(matrix), len(matrix), QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    for y, row in enumerate(matrix):
        for x, is_dark in enumerate(row):
            if is_dark:
                image.setPixelColor(x, y, QColor("black"))
    picture = QPixmap.fromImage(image.scaled(QSize(len(matrix) * scale, len(matrix) * scale)))
    picture.setDevicePixelRatio(ratio)
    return picture


class LockDialog(QDialog):
    """``proven`` carries the secret once a right code was typed; it is in no other place of the window."""

    proven = Signal(str)

    def __init__(self, name: str, parent: QWidget | None = None, *, secret: str = "", is_set_up: bool = False) -> None:
        super().__init__(parent)
        self._secret = secret or new_secret()
        self.setWindowTitle(tr("Set up the lock"))
        self.setMinimumWidth(440)
        box = QVBoxLayout(self)
        box.setContentsMargins(20, 16, 20, 16)
        box.setSpacing(10)
        box.addWidget(wrapped(tr(
            "When nobody used the hub for a while, it locks. Then nothing is allowed and no task runs "
            "until somebody sends /unlock with a code of an authenticator app."
        )))  # fmt: skip
        if is_set_up:
            box.addWidget(wrapped(tr("A secret is set up already. Going on replaces it; the old codes end.")))
        box.addWidget(wrapped(tr("1. Scan this with your authenticator app.")))
        self.picture = QLabel()
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.picture.setPixmap(qr_picture(provisioning_uri(self._secret, name), SIDE, self.devicePixelRatioF()))
        self.picture.setMinimumHeight(SIDE)  # half a code can't be scanned, however small the screen
        self.picture.setAccessibleName(tr("QR code with the secret"))
        box.addWidget(self.picture)
        groups = " ".join(self._secret[place : place + 4] for place in range(0, len(self._secret), 4))
        self.typed = wrapped(tr("Or type this secret into it: {secret}", secret=groups))
        box.addWidget(self.typed)
        box.addWidget(wrapped(tr("2. Type the six digits that the app shows now.")))
        self.code = QLineEdit()
        self.code.setPlaceholderText("123456")
        self.code.setMaxLength(9)
        self.code.setAccessibleName(tr("Code of the app"))
        self.keep = QPushButton(tr("Switch the lock on"))
        self.keep.setDefault(True)
        self.keep.clicked.connect(lambda _checked=False: self._prove())
        leave = QPushButton(tr("Cancel"))
        leave.setAutoDefault(False)
        leave.clicked.connect(self.reject)
        row = QHBoxLayout()
        row.addWidget(self.code, 1)
        row.addWidget(self.keep)
        row.addWidget(leave)
        box.addLayout(row)
        self.note = wrapped()
        self.note.setForegroundRole(self.palette().ColorRole.BrightText)
        self.note.setAccessibleName(tr("What happened"))
        box.addWidget(self.note)
        self.code.setFocus()

    def _prove(self) -> None:
        code = self.code.text().replace(" ", "")
        if not pyotp.TOTP(self._secret).verify(code, valid_window=1):
            self.note.setText(tr("That code is not right. Check the clock of the phone and type the next one."))
            self.code.selectAll()
            self.code.setFocus()
            return
        self.keep.setEnabled(False)
        self.proven.emit(self._secret)

    def failed(self, text: str) -> None:
        """It could not be kept: say why, and let the person try again."""
        self.keep.setEnabled(True)
        self.note.setText(text)
