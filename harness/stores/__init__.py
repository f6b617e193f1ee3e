"""Session stores: where an agent keeps what was said, row by row, for good.

A store is append-only and its rows have an identity. It is written before anything is sent, so
that what was acknowledged survives a kill, and it knows which inbound messages it has taken in, so
that none is taken in twice. Each store reads itself for the harness too (`core.ports.Store`).
"""
