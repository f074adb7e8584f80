"""The effort of Hypothesis: a search (see conftest.py) tries many times as many examples."""

from hypothesis import settings

EXAMPLES = 1 if settings.default.derandomize else 16
