"""The night's work on what is stored: counting, checking, retiring, rebuilding; and taking a night back."""
