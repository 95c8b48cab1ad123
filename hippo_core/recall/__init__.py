"""A question to the memories that answer it."""
