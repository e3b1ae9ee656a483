"""Small programs, each with a ``main`` that works on the device."""
