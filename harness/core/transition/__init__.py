"""One call in, one plan out: how scenario, provider, faults and history meet."""
