"""Claude Code's adapter."""
