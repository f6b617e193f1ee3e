"""Attacks on loop-harness itself: what it promises under them stands in docs/hardening.md."""
