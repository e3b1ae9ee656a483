"""How cudalint grows: with files on one machine, and with workers of a cluster."""
