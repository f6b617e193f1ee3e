"""The JSON Schemas: every key has words, and what they refuse is what the loader refuses."""
