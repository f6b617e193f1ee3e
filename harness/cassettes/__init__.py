"""Cassettes: recorded calls to a model, in the format of any writer, played back strictly."""
