"""Several servers of one board: who they are, how they reach each other, and what they tell."""
