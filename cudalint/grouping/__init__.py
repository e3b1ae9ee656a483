"""Which files of a run are analysed together, and how large groups of them are split."""
