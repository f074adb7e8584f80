"""Tests of the whole house, in the rooms of what they try."""

from pathlib import Path

ROOT = Path(__file__).parents[1]  # of the project
