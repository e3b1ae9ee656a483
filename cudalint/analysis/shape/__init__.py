"""What never changes, of functions and of the run: blocks, loops, places in the text. No values."""
