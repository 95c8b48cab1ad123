"""What the hooks read."""
