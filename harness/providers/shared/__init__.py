"""What providers have in common; no provider imports another, and nothing here imports one."""
