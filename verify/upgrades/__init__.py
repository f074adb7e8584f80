"""A rolling upgrade with two real builds: `python -m verify.upgrades`."""
