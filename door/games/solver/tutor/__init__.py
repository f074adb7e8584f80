"""The tutor: the best action for a hand, computed from the rules of its table."""
