"""Tests of the simulated Telegram: it must refuse, hold and forget what the real one does."""
