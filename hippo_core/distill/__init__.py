"""Finished sessions to typed items."""
