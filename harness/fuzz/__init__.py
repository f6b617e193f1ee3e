"""Fuzzing: scenarios are generated, played in campaigns, and kept when they reach something new.

The grammars map a sequence of small numbers to a scenario; a smaller number is a simpler thing.
`harness.strategies` is the public face of the grammars and of `machines`.
"""
