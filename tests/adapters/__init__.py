"""Agents of other frameworks as targets."""
