"""The model as the loop asks it, over each provider's official SDK: one file for each API."""
