"""How a caller's bytes reach us: one small interface, Line."""
