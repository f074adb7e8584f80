"""What all tests share: Hypothesis tries the same examples in every run, unless asked to search.

`pytest --hypothesis-profile=search` tries others, chosen by chance, as a search for faults does.
"""

from hypothesis import settings

settings.register_profile("suite", derandomize=True, deadline=None)
settings.register_profile("search", derandomize=False, deadline=None)
settings.load_profile("suite")
