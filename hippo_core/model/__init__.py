"""Plain data and the policy table. No I/O."""
