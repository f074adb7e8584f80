"""The lines that carry callers' bytes, all behind one small interface, `Line`."""
