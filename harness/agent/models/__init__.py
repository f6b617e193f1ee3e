"""The models that the loop calls, over each provider's official SDK: one file for each API."""
