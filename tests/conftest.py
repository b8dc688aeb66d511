"""What holds for every test: generated cases have no deadline, and in CI they are the same each time."""

from __future__ import annotations

from hypothesis import settings

from tests.parts import IN_CI

# A busy computer would fail a deadline by chance; a new seed in CI would fail somebody else's change.
settings.register_profile("house", deadline=None, derandomize=IN_CI)
settings.load_profile("house")
