"""Client transcript formats to a stream of messages."""
