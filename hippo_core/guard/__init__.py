"""What may be stored, and in which words."""
