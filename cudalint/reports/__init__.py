"""One renderer per file."""
