"""The application: settings, secrets, command line, engine, tray and window."""
