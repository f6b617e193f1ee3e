"""Context faults: the conversation does not fit, and what is to make it shorter does not work.

They bend what the model says; arm overflow `on: main` and a summary's faults `on: compact` (the
defaults), and either `on: aux` for the calls that an agent makes in the background.
"""
