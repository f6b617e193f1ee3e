"""A server that speaks a later version of the lines of `harness model`."""

import sys

print('{"protocol": 999, "version": "9.9.9"}', flush=True)
sys.stdin.read()
