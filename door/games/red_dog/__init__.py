"""Red Dog: a bet that the third card falls between the first two, for time."""
