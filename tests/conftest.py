"""What all tests share: where their files are, and what Hypothesis tries.

It tries the same examples in every run. `pytest --hypothesis-profile=search` tries others, chosen
by chance, as a search for faults does.
"""

import os
import shutil

from hypothesis import settings

# Files lie in memory where there is room: every COMMIT of thousands of tests waits for the disk.
MEMORY, ROOM = "/dev/shm", 2**31
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)

settings.register_profile("suite", derandomize=True, deadline=None)
settings.register_profile("search", derandomize=False, deadline=None)
settings.load_profile("suite")
