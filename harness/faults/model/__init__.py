"""Model faults: the model says something else than the script, or says it badly.

They rewrite the scripted reply before the provider writes it, so the turn is consumed. A fault that
makes a call is the identity where the model has no tools.
"""
