"""Hippocampus: long-term memory for a coding agent."""

__version__ = "0.1.0"
