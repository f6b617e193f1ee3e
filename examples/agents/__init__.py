"""Examples: agents and programs to copy from."""
