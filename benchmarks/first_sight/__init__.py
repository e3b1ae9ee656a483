"""Precision on repositories that nobody had tuned for, judged before anything was mended."""
