"""Proof without a ``main``: a program is written that calls the function a finding is in."""
