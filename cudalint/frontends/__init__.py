"""Source text in, programs out: one frontend for each language."""
