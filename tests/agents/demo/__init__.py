"""Tests of the demo agent, as a real process."""
