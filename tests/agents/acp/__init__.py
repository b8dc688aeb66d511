"""Tests of the ACP layer."""
