"""State machines for Hypothesis: an agent with its session (`session`), and a store (`store`)."""
