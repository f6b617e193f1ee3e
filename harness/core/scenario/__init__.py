"""The structs of a scenario, and the rules for its next message and turn."""
