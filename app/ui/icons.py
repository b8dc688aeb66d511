"""Icons from the SVG files of ``resources``, drawn at every size a tray or a window asks for."""

from __future__ import annotations

import sys
from functools import cache
from importlib import resources

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QImage, QPainter, QPixmap
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


def mask_of(picture: QImage) -> QImage:
    """The picture as a template: opaque where it is dark or coloured, clear where it is white or clear.

    macOS paints templates in the menu bar's own colour; what tells states apart is then the shape of the badge and the
    sign cut into it. Follows the vendor's documentation and was not run by us there.
    """
    made = picture.convertToFormat(QImage.Format.Format_ARGB32)
    for y in range(made.height()):
        for x in range(made.width()):
            colour = made.pixelColor(x, y)
            whiteness = min(colour.redF(), colour.greenF(), colour.blueF())
            made.setPixelColor(x, y, QColor(0, 0, 0, round(colour.alpha() * (1 - whiteness))))
    return made


def template(coloured: QIcon) -> QIcon:
    """A coloured icon as a template at the sizes of a menu bar."""
    made = QIcon()
    for size in (16, 22, 32, 44):
        made.addPixmap(QPixmap.fromImage(mask_of(coloured.pixmap(size, size).toImage())))
    made.setIsMask(True)
    return made


def app_icon() -> QIcon:
    """The product's icon."""
    return icon("agent-hub")


@cache
def light_icon(light: Light, *, for_menu_bar: bool = False) -> QIcon:
    """The sign of a state; the shape differs as well as the colour. The Mac's menu bar gets a template."""
    coloured = icon(f"tray-{light.value}")
    return template(coloured) if for_menu_bar and sys.platform == "darwin" else coloured
