"""Configuration, files, compile flags and the cache."""
