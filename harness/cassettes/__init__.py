"""Cassettes: recorded calls to a model, in the format of any writer, played back strictly.

`client_listener` hears calls through vcrpy. `recorder` writes them, masked by `redaction` (with
`secret_patterns`), timed by `timing`, and looked through by `secret_scan`. `cassette_file` reads
them. `request_index` finds the exchange that answers a request, and `cassette_player` is the
Script. `cassette_scenario` makes a run of a recording alone; `conversion` changes the format.
"""
