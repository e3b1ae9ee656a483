"""One function: its memory and its conditions along a path. Knows no API and no finding."""
