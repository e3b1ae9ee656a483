"""What a value is, and how values are computed with."""
