"""Whole scenarios through simulator, hub and agent."""
