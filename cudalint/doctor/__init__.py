"""Explains out of memory: this machine, a command, an error text or a memory snapshot.

Whatever is looked at becomes one frozen record (``record.Case``); the likely causes are pure
functions over it (``causes``), and what they say is printed by one renderer (``text``)."""
