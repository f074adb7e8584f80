"""`door top`: the running board at a terminal, by Textual.

`snapshot.py` gathers what there is to see, beside the loop, and puts it into rows and sentences;
`app.py` is the screens and their keys, that of the sysop beside a caller too. It acts by
the same ways as the pages and the commands, and notes in the sysop's log who did it.
"""
