"""Tests of the Qwen Code adapter."""
