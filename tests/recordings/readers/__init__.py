"""The formats, one by one."""
