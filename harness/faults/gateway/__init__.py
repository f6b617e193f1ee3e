"""Gateway faults: messages come twice, late or from nobody, replies do not arrive, the agent dies.

What a fault adds to the inbox is due before what the scenario has there, which stays due. A message
of a fault has an id of its own, made of the call's number, unless it is one that came before.
"""
