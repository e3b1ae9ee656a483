"""What each API does, as data."""
