"""One file a store reader, or a few of one kind. A reader is a function of `path` or `url`."""
