"""HTTP faults: the provider answers an error, or an odd success, in place of a reply.

By what they say: `status` is the general knob, `account` is about keys and money, `request` about
what was asked, `threads` about state that the server keeps, `load` about the provider's own
trouble, `odd_success` about a 200 that is none, and `fields` about single fields of one. An answer
is a value, which the wire puts into its own envelope. The turn that it replaces is not consumed, so
the next call gets it.
"""
