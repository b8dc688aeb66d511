"""Icons from the SVG files of ``resources``, drawn at every size a tray or a window asks for."""

from __future__ import annotations

from importlib import resources

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from app.health import Light

SIZES = (16, 20, 22, 24, 32, 40, 44, 48, 64, 128, 256)


def icon(name: str) -> QIcon:
    """The icon ``resources/icons/<name>.svg`` at all sizes."""
    data = resources.files("resources").joinpath("icons", f"{name}.svg").read_bytes()
    renderer = QSvgRenderer(QByteArray(data))
    made = QIcon()
    for size in SIZES:
        pixmap = QPixmap(size, size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        renderer.render(painter, QRectF(0, 0, size, size))
        painter.end()
        made.addPixmap(pixmap)
    return made


def app_icon() -> QIcon:
    """The product's icon."""
    return icon("agent-hub")


def light_icon(light: Light) -> QIcon:
    """The tray icon of a state; the shape differs as well as the colour."""
    return icon(f"tray-{light.value}")
