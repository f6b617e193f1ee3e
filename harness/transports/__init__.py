"""The transports: each hands a call of the agent to the transition, and carries out the plan.

`dispatcher` is what all transports share. `http_exchange` turns a plan into what one HTTP client
meets, the same through every transport. `httpx_transport`, `in_process` and `python_calls` serve a
Python agent in this process; `mount` serves one with a hard-coded URL. `loopback` is an HTTP server
for any language: `http_connection` frames, `http_server` answers, `seam_endpoints` has the paths.
`mcp_tools` offers the tools over MCP, and `recording_proxy` records the real model behind
`upstream`.
"""
