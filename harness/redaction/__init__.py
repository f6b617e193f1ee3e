"""Redaction: what a secret looks like, and texts, values and bodies without secrets."""
