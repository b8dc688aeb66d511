"""Adapters for coding agents: each speaks its program's protocol and tells the bridge in one vocabulary."""
