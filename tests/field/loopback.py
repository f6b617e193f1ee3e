"""`python -m tests.field.loopback COMMAND...`: run a command in a network of loopback alone.

Exit status 125 means that this machine does not permit such a network. The command starts only
after the kernel has shown that there is no other interface, and no way to an address outside.
"""

from __future__ import annotations

import errno
import os
import socket
import sys

from harness.targets.known.driver import close_network

NOT_PERMITTED = 125
OUTSIDE = ("192.0.2.1", 80)
"""An address reserved for documentation: no host answers there."""


def main() -> None:
    """Close the network, prove it, and become the command."""
    if not close_network() or not is_closed():
        sys.exit(NOT_PERMITTED)
    os.execvp(sys.argv[1], sys.argv[1:])


def is_closed() -> bool:
    """Whether loopback is the only interface, and an address outside has no route."""
    if [name for _, name in socket.if_nameindex()] != ["lo"]:
        return False
    with socket.socket() as probe:
        return probe.connect_ex(OUTSIDE) == errno.ENETUNREACH


if __name__ == "__main__":
    main()
