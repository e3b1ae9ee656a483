"""Findings on real repositories, each judged by reading the code."""
