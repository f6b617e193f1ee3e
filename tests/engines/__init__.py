"""Tests of `harness.engines`."""
