"""One call in, one plan out: the transition combines scenario, provider, faults and history."""
