"""Claude Code over its own stream-json protocol, measured on Claude Code 2.1.332.

``backend.ClaudeBackend`` is what others use. Only ``wire.py`` knows the shapes of the protocol.
"""
