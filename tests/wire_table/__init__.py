"""What the official SDKs make of faulty answers: a living table, measured through our transports.

`rows` says which fault and what it led to when the wire was first looked at; `measure` asks the
installed SDKs the same again; `table` prints both side by side. A new version of an SDK shows as a
difference in `docs/wire-table.md`, which is made by `python -m tests.wire_table`.
"""
