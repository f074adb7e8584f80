"""`door top`."""
