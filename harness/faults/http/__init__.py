"""HTTP faults: the provider answers an error, or an odd success, in place of a reply.

An answer is a value; the provider adds its own envelope. The replaced turn goes to the next call.
"""
