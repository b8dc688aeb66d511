"""Codex through ``codex app-server``: one shared process, a thread per session. Measured on Codex 0.171.0."""
