"""The hub is killed again and again while agents and a person work; afterwards nothing may be missing or doubled."""
