"""What the layers of faults share: what a fault is, templates, answers and durations."""
