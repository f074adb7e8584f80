"""Reading a drop file loads no module that only a board needs, so a door starts at once."""

import subprocess
import sys

NAMES = "formats, search, interpretation, give_back"
CODE = f"from door.dropfiles import {NAMES}; import sys; print(*sys.modules)"


def test_reading_drop_files_loads_nothing_heavy():
    modules = subprocess.run(
        [sys.executable, "-c", CODE],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    loaded = {name.partition(".")[0] for name in modules}
    assert loaded.isdisjoint({"sqlalchemy", "telnetlib3", "click", "asyncio", "argon2", "sqlite3"})
