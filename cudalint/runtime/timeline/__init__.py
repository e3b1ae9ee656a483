"""The memory timeline: what a run held, when, from which lines and at which addresses."""
