"""Tool faults: a tool that works is made to fail on its way, or to answer what nobody expects.

They bend a tool's plan before it is answered; arm them `on: tool` (the default) or `on: tool:NAME`.
An effect stands before the answer, so each fault says whether it happens.
"""
