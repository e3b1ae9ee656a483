"""The confirmation table: which fixtures the runtime confirms, and which it must not."""
