"""What a missing header costs: programs that use libraries, linted with and without them."""
