"""Plain values that all else is made of: messages, calls, plans, findings."""
