"""Transport faults: what happens to a connection and to the bytes on their way.

A cut answer is not whole, so its turn is played again. TLS is out of scope: sockets here are plain.
"""
