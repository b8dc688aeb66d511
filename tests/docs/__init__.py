"""Holds README and docs to the program: links, commands, settings, sentences."""
