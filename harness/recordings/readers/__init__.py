"""The formats that are read: one file a format, or a family of one. See `harness.recordings.formats` for the shape."""
