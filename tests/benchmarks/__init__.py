"""Figures of the product, each with its floor and its goal. No benchmark is a test, and no test times one."""
