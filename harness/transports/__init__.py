"""The transports: each hands an agent's call to the transition and carries out the plan.

`dispatcher` and `http_exchange` are common to all. `httpx_transport`, `in_process`, `python_calls`
and `mount` (hard-coded URLs) serve Python agents; `loopback` serves any language. `recording_proxy`
records the real model.
"""
