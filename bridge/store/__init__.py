"""SQLite: everything that must not be lost."""
