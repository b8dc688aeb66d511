"""Tray and window: the only room that imports Qt. Lives in the main thread; the engine never waits for it."""
