"""What the book says of a hand, worked out from the rules of its table."""
