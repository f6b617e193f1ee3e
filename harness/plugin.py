"""The pytest plugin: filled in below its face."""
