"""Runs the operations of a function on its disjuncts, and applies models and summaries."""
