"""Small faults in the text of the program, one at a time: does the suite see them?

`mutant` is one fault, `catalogue` reads them all. Each is put into a copy of the tree (`tree`),
where the suite is asked (`looks`).
"""
