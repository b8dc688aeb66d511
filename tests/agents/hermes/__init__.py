"""Tests of the Hermes adapter."""
