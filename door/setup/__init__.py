"""How a board comes to be: a new folder with its settings and books, what belongs to its machine,
and what it needs to serve the callers of another board. `files/` is what is written."""
