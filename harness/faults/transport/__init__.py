"""Transport faults: what happens to a connection and to the bytes on their way.

By what they strike: the connection `before_the_answer`, the `body`, the `framing` of HTTP around
it, and what a machine `in_between` answers in the provider's place. An answer that is cut is not
whole, so its turn is played again. TLS is out of scope: sockets here are plain.
"""
