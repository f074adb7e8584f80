"""`door docs`: the documents that come with the program."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import click

from timebank.cli.errors import UserError
from timebank.extras import PROGRAM
from timebank.settings.quoting import guess, shown

FIRST = "index.md"
_LISTED = ": `door docs` lists them."


def folder() -> Path:
    """Return where the documents were installed, or their folder in a clone."""
    try:
        installed = metadata.files(PROGRAM) or ()
    except metadata.PackageNotFoundError:
        installed = ()
    here = (Path(str(file.locate())) for file in installed if file.name == FIRST)
    return next(here, Path(__file__).parents[2] / "docs" / FIRST).resolve().parent


@click.command()
@click.argument("page", required=False)
def docs(page: str | None) -> None:
    """List the documents, or show a PAGE of them."""
    place = folder()
    paths = sorted(path for path in place.rglob("*.md") if "screens" not in path.parts)
    pages = {path.relative_to(place).with_suffix("").as_posix(): path for path in paths}
    pages["changelog"] = place.parent / "CHANGELOG.md"
    if page is None:
        click.echo(f"The documents are in {place}. `door docs PAGE` shows one of them:")
        for name, path in pages.items():
            title = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
            click.echo(f"    {name:<25} {title}")
        return
    wanted = page.removesuffix(".md").removeprefix("docs/")
    named = {path.stem: path for path in paths} | pages
    if wanted not in named:
        raise UserError(f"There is no page {shown(page)}{guess(wanted, named) or _LISTED}")
    click.echo_via_pager(named[wanted].read_text(encoding="utf-8").rstrip())
