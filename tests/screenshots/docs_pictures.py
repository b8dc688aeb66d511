"""Makes the pictures of README and docs from those of the phone page and the window, small enough for a repository.

python -m tests.phone.screens PHONE && python -m tests.screenshots.window WINDOW --scale 1 --language en --theme light
python -m tests.screenshots.docs_pictures PHONE WINDOW docs/pictures
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter, QPainterPath

PHONE_WIDTH = 330
WINDOW_WIDTH = 860
GAP = 28
LIMIT = 300_000
"""Bytes a picture may have."""
PHONE_PAGES = ("diff-card", "question", "running-turn", "answer", "topics")


def loaded(file: Path, width: int) -> QImage:
    image = QImage(str(file))
    if image.isNull():
        raise SystemExit(f"{file} is no picture")
    return image.scaledToWidth(width, Qt.TransformationMode.SmoothTransformation)


def framed(painter: QPainter, image: QImage, left: int, top: int, radius: float) -> None:
    """Round corners and a thin line, so that it stands out on white and on black."""
    shape = QPainterPath()
    shape.addRoundedRect(QRectF(left, top, image.width(), image.height()), radius, radius)
    painter.save()
    painter.setClipPath(shape)
    painter.drawImage(left, top, image)
    painter.restore()
    painter.setPen(QColor("#8a94a6"))
    painter.drawPath(shape)


def beside(phone: QImage, window: QImage) -> QImage:
    """The phone at the left, the window at the right, on nothing."""
    height = max(phone.height(), window.height()) + 2
    canvas = QImage(phone.width() + GAP + window.width() + 2, height, QImage.Format.Format_ARGB32)
    canvas.fill(Qt.GlobalColor.transparent)
    painter = QPainter(canvas)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    framed(painter, phone, 1, (height - phone.height()) // 2, 22)
    framed(painter, window, phone.width() + GAP, (height - window.height()) // 2, 8)
    painter.end()
    return canvas


def save(image: QImage, file: Path) -> None:
    """As a PNG; too large a picture is an error, so that the repository stays small."""
    image.save(str(file), "PNG", 0)
    if file.stat().st_size > LIMIT:
        # 256 colours are enough for an illustration.
        image.convertToFormat(QImage.Format.Format_Indexed8, Qt.ImageConversionFlag.DiffuseDither).save(str(file))
    if file.stat().st_size > LIMIT:
        raise SystemExit(f"{file.name} has {file.stat().st_size} bytes")
    sys.stdout.write(f"{file.name}: {file.stat().st_size // 1000} kB\n")


def main() -> int:
    phone, window, out = (Path(argument) for argument in sys.argv[1:4])
    application = QGuiApplication(sys.argv[:1])
    out.mkdir(parents=True, exist_ok=True)
    card = loaded(phone / "en-permission-card-390-light.png", PHONE_WIDTH)
    approvals = loaded(window / "window-1-ApprovalsPage-light-en-1x.png", WINDOW_WIDTH)
    save(beside(card, approvals), out / "phone-and-window.png")
    for page in PHONE_PAGES:
        save(loaded(phone / f"en-{page}-390-light.png", PHONE_WIDTH), out / f"{page}.png")
    del application
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
