"""State machines: an agent with a session, or a store alone, is driven step by step."""
