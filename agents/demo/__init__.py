"""The demo agent: a small scripted program that speaks ACP, needs no model and no network, and its backend."""
