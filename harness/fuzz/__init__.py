"""Fuzzing: scenarios are generated, played in campaigns, and kept when they reach something new.

The grammars (`scenario_grammar`, `session_grammar`, `inbox_grammar`, `script_grammar`,
`fault_grammar`) are functions of a sequence of small numbers that index tables. A smaller number is
a simpler thing, so what they make shrinks well. `campaign` plays batch after batch of such
sequences. `machines` drive an agent or a store step by step. `harness.strategies` is the public
face of the grammars and the machines.
"""
