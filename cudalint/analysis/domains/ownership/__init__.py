"""Who owns what: acquired, released, handed over, lost."""
