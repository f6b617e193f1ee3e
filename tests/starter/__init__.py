"""Tests of the room `starter`."""
