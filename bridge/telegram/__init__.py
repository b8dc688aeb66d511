"""The only room that imports python-telegram-bot."""
