"""Reports: a run or a recording as text and as JSON Lines.

Functions here return values and print nothing; the command line and the pytest plugin print.
"""
