"""Sets up boards: a new folder with its settings and books, the files for its machine, and what
another board needs to send its callers here. `files/` holds the templates."""
