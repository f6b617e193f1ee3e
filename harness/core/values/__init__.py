"""The plain values of all rooms: messages, calls, plans, findings."""
