"""What a scenario says, and what is due of it next."""
