"""The media of a report: one file each. A file in this folder is a report, by the file's name."""
