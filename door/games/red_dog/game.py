"""Red Dog as the house knows it."""

from door.games.engine.descriptor import Game
from door.games.red_dog import settings

GAME = Game(
    name="red-dog",
    letter="R",
    code="REDDOG",
    title="Red Dog",
    read_settings=settings.read,
    kind_at="door.games.red_dog.kind:RED_DOG_KIND",
    table_at="door.games.red_dog.table:sit_down",
    words_at="door.games.red_dog.table:menu_words",
    samples_at="door.games.red_dog.samples:SAMPLES",
)
