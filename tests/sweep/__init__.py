"""Tests of `harness.sweep`."""
