"""Evidence: what several checks read from a history, and the events that excuse.

Each family of invariants stands in a file beside this folder and imports from here alone; families
do not import each other.
"""
