"""The processes that the harness owns: their signs of life, and their end with the harness."""
