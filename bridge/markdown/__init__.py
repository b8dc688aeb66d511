"""Markdown to Telegram: a pure function from text to messages that are never refused."""
