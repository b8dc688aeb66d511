"""The JSON shapes of ``codex app-server`` (API v2), and nothing else: no I/O, no state, no decision.

What comes in becomes a frozen value; what is unknown becomes a value too. Fields are read leniently: a field that is
missing or of another type reads as empty.
"""
