"""Reports: a run or a recording as text and as JSON Lines.

Functions of this room return values; only the command line and the pytest plugin print.
"""
