"""A nightly copy of what shapes the memory, in a git repository of its own."""
