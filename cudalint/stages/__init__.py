"""The stages of a run: what is read, what is analysed, and what stands around it."""
