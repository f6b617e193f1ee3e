"""State machines: they drive an agent with a session, or a store alone, step by step."""
