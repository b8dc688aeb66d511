"""Which windows an X display really shows, asked of the X server itself (libX11 through ctypes; no window manager)."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator

from tests.parts import missing

VIEWABLE = 2
"""IsViewable of X.h: the window and all above it are mapped."""


class _Attributes(ctypes.Structure):
    """XWindowAttributes of Xlib.h up to ``map_state``, with room for the rest."""

    _fields_ = (
        ("place", ctypes.c_int * 5),
        ("depth", ctypes.c_int),
        ("visual", ctypes.c_void_p),
        ("root", ctypes.c_ulong),
        ("kind", ctypes.c_int * 4),
        ("planes", ctypes.c_ulong * 2),
        ("save_under", ctypes.c_int),
        ("colormap", ctypes.c_ulong),
        ("map_installed", ctypes.c_int),
        ("map_state", ctypes.c_int),
        ("rest", ctypes.c_byte * 128),
    )


def shown_titles() -> set[str]:
    """Titles of the top-level windows that are mapped now."""
    try:
        x11 = ctypes.CDLL("libX11.so.6")
    except OSError as error:
        missing(f"needs libX11: {error}")
        raise
    x11.XOpenDisplay.restype = ctypes.c_void_p
    x11.XDefaultRootWindow.restype = ctypes.c_ulong
    display = ctypes.c_void_p(x11.XOpenDisplay(os.environ["DISPLAY"].encode()))
    try:
        return set(_titles(x11, display))
    finally:
        x11.XCloseDisplay(display)


def _titles(x11: ctypes.CDLL, display: ctypes.c_void_p) -> Iterator[str]:
    root, parent, count = ctypes.c_ulong(), ctypes.c_ulong(), ctypes.c_uint()
    children = ctypes.POINTER(ctypes.c_ulong)()
    x11.XQueryTree(
        display,
        ctypes.c_ulong(x11.XDefaultRootWindow(display)),
        ctypes.byref(root),
        ctypes.byref(parent),
        ctypes.byref(children),
        ctypes.byref(count),
    )
    for number in range(count.value):
        window, facts, name = ctypes.c_ulong(children[number]), _Attributes(), ctypes.c_char_p()
        x11.XGetWindowAttributes(display, window, ctypes.byref(facts))
        if facts.map_state == VIEWABLE and x11.XFetchName(display, window, ctypes.byref(name)):
            yield (name.value or b"").decode("latin-1")
            x11.XFree(name)
    if count.value:
        x11.XFree(children)
