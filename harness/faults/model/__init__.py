"""Model faults: the model says something else than the script, or says it badly.

They rewrite the scripted reply before the wire writes it, so each is as much a whole, consumed turn
as what it replaces. A fault that makes a call does so only where the model may call tools, and is
the identity elsewhere: a call of a scripted reply is bent, without one the last call of the
conversation or a made-up one of an offered tool.
"""
