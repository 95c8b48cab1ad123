"""Says when something stops: findings, alerts, and the line a session starts with."""
