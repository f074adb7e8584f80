"""The board's own pictures, drawn by a program: `python -m tools.draw` writes them all."""
