"""One module for each reader of bytes, with its `TARGET`; their names are in fuzz/target.py."""
