"""Black jack: the engine of three tables, whose rules differ."""
