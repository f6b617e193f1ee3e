"""Agents of other frameworks: what the harness says of them."""
