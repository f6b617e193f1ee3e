"""JSONL transcripts in the shape of Claude Code: written, read, kept beside the store.

`entries` knows a line, `strip` what of a file is not kept, `chain` the list that grows and how it
is told as messages, `watermark` how far a file has come, `compactions` the announcements of another
program's compactions; they are pure. `files` is the one part with a disk, and `archived` is a
transcript of the agent that puts them to use.
"""
