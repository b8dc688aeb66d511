"""One list of promises, run over every kind of agent: against recorded exchanges here, live in ``tests/live``."""
