"""The formats that the harness reads: one file a format, or a family of formats."""
