"""Memories that nobody asked for: what bears on a prompt, or on a sub-agent's task, and is sure enough to be added."""
