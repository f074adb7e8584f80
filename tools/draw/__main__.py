"""Write our pictures into door/screens."""

from __future__ import annotations

from tools.draw.files import FOLDER, files


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, data in files().items():
        (FOLDER / name).write_bytes(data)


if __name__ == "__main__":
    main()
