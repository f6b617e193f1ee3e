"""Stream faults: events of an answer's stream are missing, doubled, cut, garbled or framed oddly.

What a client cannot take for a whole answer ends with a `Close`, in order: the clean end of a body,
which the SDKs take for success, and after which the script's turn is played again. Whatever may be
read as it was meant leaves whole.
"""
