"""What a person changes by hand: remembering, rules, forgetting."""
