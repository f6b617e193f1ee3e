"""The doors: what hands a call of the agent to the transition, and carries out the plan.

A door does no thinking. `door` is what all doors share; `exchange` turns a plan into what one HTTP
client meets, the same through every door. In process that is `transport` (with `in_process`, the
brief, and `live_sockets`, which sees what went past us); over sockets it is `loopback`, with
`http` for the framing and `endpoints` for the paths.
"""
