"""What a command comes to, as values: one result for each thing that was judged.

`report` renders these values, one file a medium. Nothing here knows a medium.
"""
