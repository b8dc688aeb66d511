"""Window, wizard and tray."""
