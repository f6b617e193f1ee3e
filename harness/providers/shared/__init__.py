"""What providers have in common: JSON, streams, growing requests, rules, the provider record.

Nothing here imports a provider, and no provider imports another one.
"""
