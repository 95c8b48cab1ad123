"""Whether an installation is sound, and setting right what can safely be set right."""
