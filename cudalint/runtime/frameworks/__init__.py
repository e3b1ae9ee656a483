"""Python frameworks on a real GPU: hooks that see their memory, and verdicts by measured growth.

What lies in ``modules`` is put on a program's path and runs in the program; the rest reads what it
wrote.
"""
