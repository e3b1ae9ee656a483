"""Watches the device memory of Python frameworks from within the program that uses them.

Runs in the program's interpreter: nothing but the standard library, and no error of its own ends
the program.
"""
