"""Small faults in the text of the program, one at a time: does the suite see them, the simulator?

`mutant` is one fault, `catalogue` lists them all. Each is put into a copy of the tree (`tree`),
where the suite and the simulator are asked apart from each other (`looks`, with `watch` inside
pytest and `play` around the simulator). `report` keeps what they found, and writes the table.
"""
