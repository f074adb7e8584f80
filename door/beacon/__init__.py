"""Rounds of a public randomness beacon, drand's quicknet: what they are, how they are had and
checked. Nothing here is loaded where `[fairness] beacon` is "none"."""
