"""Small programs with one known flaw each, three flaws through many ways, and correct twins."""
