"""Stream faults: an answer's events are missing, doubled, cut, garbled or framed oddly.

An incomplete answer ends with a `Close`, which SDKs take for success; its turn is played again.
"""
