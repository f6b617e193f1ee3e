"""What the adapters share: how the objects of a framework are known, and what a tool answers."""
