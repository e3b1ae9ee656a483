"""A static estimate of the device memory that a function needs at its peak."""
