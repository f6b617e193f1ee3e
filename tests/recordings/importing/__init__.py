"""An incident that was recorded becomes a scenario that can be played."""
