"""Parts: what a folder of the package, or a plug-in of the user, brings by the file alone.

`loading` finds the parts of a kind, `part` is the description that every kind has in common.
"""
