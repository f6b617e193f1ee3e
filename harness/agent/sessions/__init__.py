"""What the agent keeps of a session: the outcome of a turn, its rows, and transcripts in JSONL.

`transcript` turns the live history into rows of a store. `jsonl_entries`, `jsonl_conversation` and
`session_archive` write and read session files in the layout of Claude Code beside the store.
`compaction_notices` follows another program's compactions. Only `session_archive` touches a disk.
"""
