"""Hermes (measured on 0.19.0): one process per topic, the ACP layer with Hermes' faults healed."""
