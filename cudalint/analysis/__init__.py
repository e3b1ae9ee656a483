"""The path engine and what it learns."""
