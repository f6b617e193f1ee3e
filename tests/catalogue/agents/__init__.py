"""Wrong agents with the defects of public incidents, a function each, in a file a topic.

`tests/catalogue/covered.tsv` names them as `FILE.FUNCTION`.
"""
