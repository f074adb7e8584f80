"""Boards as `door init` and `door setup` make them."""
