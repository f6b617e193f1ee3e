"""A session that is killed at each write of its store, one after another."""
