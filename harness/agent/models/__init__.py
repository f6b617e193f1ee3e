"""The model as the loop asks it, over each provider's official SDK.

`model_call` is the protocol and its values, `failures` every way in which a call fails, `timeouts`
how long anything may take. One file stands for each API; only these name a provider.
"""
