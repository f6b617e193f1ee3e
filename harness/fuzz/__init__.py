"""Fuzzing: generates scenarios, plays them in campaigns, and keeps those with new coverage.

The grammars map a sequence of small numbers to a scenario; a smaller number gives a simpler part.
`harness.strategies` is the public API of the grammars and of `machines`.
"""
