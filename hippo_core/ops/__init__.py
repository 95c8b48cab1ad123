"""Installing, checking and running."""
