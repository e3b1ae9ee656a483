"""Compares the static estimate of peak device memory with what programs need on a GPU."""
