"""Questions to a caller: a choice among keys, yes or no, a typed text; and help for the keys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from dataclasses import dataclass

from ansi.charset import UNREADABLE, reread
from ansi.keys import BACKSPACE, COMMODORE_DELETE, ENTER, ESCAPE, F1, INTERRUPT
from door.call.canvas_display import CanvasDisplay
from door.call.keyboard import (
    CHANGED,
    COMMAND,
    HELP,
    HELP_KEYS,
    LINES,
    REREAD,
    Keyboard,
    is_command,
    letters_of,
)
from door.call.markup import lit, literal, plain
from door.call.pager import Pager
from door.call.scene import Explained
from door.call.screen import Paint, Screen
from door.call.whole_lines import WholeLine, chosen
from door.flag import Flag
from door.lines.line import Ask
from timebank.language import _


@dataclass(slots=True, eq=False)
class Prompt:
    _keyboard: Keyboard
    _screen: Screen
    _pager: Pager
    # Called for typed letters that cannot be read; returns False if it could not help.
    on_unread: Callable[[], Awaitable[bool]] | None = None
    # Called for a Commodore's Delete in place of a text, while the terminal may be one.
    on_delete: Callable[[], Awaitable[None]] | None = None

    async def ask(
        self,
        choices: Mapping[str, str],
        *,
        question: str = "",
        menu: str = "",
        brief: str = "",
        default: str | None = None,
        cancel: str | None = None,
        meanings: Mapping[str, str] | None = None,
        also: Mapping[str, str] | None = None,
        changed: Flag | None = None,
    ) -> str:
        """Show the choices with their letters lit and return the letter that was pressed.

        `choices` maps upper-case letters to labels. Enter returns `default`, which is shown; Esc
        and Ctrl-C return `cancel`. `?` explains every key by `meanings`, which are translated here,
        or else by its label. A line says that any other key does nothing. `menu` replaces the
        labels if the choices are on the screen already, and must name the default. Plain lines say
        `brief` in its place, if given. `also` maps keys that are not shown to letters. Return
        `CHANGED` once `changed` is raised.
        """
        prompt = menu or lit(choices, default)
        if question:
            prompt = f"|15{question}|07  {prompt}"
        self._screen.display.prompt(prompt, brief=brief)
        self._screen.offer("keys", choices, default)
        while True:
            key = await self._keyboard.key(takes_words=True, changed=changed)
            if key == CHANGED:
                return CHANGED
            key = self._keyboard.letter_of(key, {**dict.fromkeys(also or {}, ""), **choices})
            letter: str | None = (also or {}).get(key.upper(), key.upper())
            if key == ENTER:
                letter = default
            elif key in (ESCAPE, INTERRUPT):
                letter = cancel
            if letter is not None and letter in choices:
                self._screen.display.typed(letter)
                self._screen.display.answered()
                self._screen.offer("any")
                return letter
            if key in HELP_KEYS:
                await self.explain(choices, meanings or {}, default, cancel)
                self._screen.display.prompt(prompt, brief=brief)
                self._screen.offer("keys", choices, default)
            elif key != " ":  # the space bar cuts a pause short
                self.say_useless(key, choices)

    async def choose(
        self,
        labels: Mapping[str, str],
        meanings: Mapping[str, str],
        hidden: Container[str] = (),
        default: str | None = None,
        changed: Flag | None = None,
    ) -> str:
        """Ask for one of a room's keys, whose labels are translated here; Q is the way out."""
        shown = {key: _(label) for key, label in labels.items() if key not in hidden}
        return await self.ask(
            shown, default=default, cancel="Q", meanings=meanings, changed=changed
        )

    async def agrees(self, question: str, default: str = "Y") -> bool:
        """Ask a yes-or-no question and return whether the answer is yes.

        Y means yes in every language, and so does the first letter of the language's own word.
        """
        choices = {"Y": _("Yes"), "N": _("No")}
        yes = {choices["Y"][0].upper(): "Y"}
        answer = await self.ask(choices, question=question, default=default, cancel="N", also=yes)
        return answer == "Y"

    async def entry(
        self,
        prompt: str,
        *,
        longest: int,
        accept: Callable[[str], bool] = str.isprintable,
        secret: bool = False,
        on_change: Callable[[str], None] | None = None,
        is_whole: Callable[[str], bool] = lambda _text: False,
        meaning: str = "",
        typed: str = "",
        answers: Mapping[str, str] | None = None,
        fills: str = "",
    ) -> str | None:
        """Let the caller type up to `longest` characters; return them at Enter, None at Esc.

        The field begins with `typed`. `accept` returns whether a character is allowed. `secret`
        shows stars. `on_change` is called with the text after every change. A text that `is_whole`
        needs no Enter. `answers` are texts that a web page may show as keys, each with its meaning.
        `fills` is as in `OpenKeys`. F1 explains the field by `meaning`; so does `?` while it is
        empty.
        """
        if number := self._keyboard.take_number(longest, accept):
            return number
        # A program that sends whole lines could not erase a refused text.
        typed = "" if self._keyboard.has_sent_line and typed != COMMAND else typed
        kind: Ask = "number" if accept("1") and not accept("x") else "text"

        def show() -> None:
            self._screen.display.prompt(prompt, longest + 1)
            entered = {each: f"{each}\r" for each in answers or ()}
            self._screen.offer("secret" if secret else kind, answers, typed=entered, fills=fills)

        show()
        self._screen.display.typed(typed)
        text, is_full = typed, False
        while True:
            key = await self._keyboard.key(
                takes_slash=accept(COMMAND), takes_paste=True, takes_words=True
            )
            if isinstance(key, WholeLine):
                key = self._word_at_a_field(key, accept, plain(prompt), secret=secret)
            is_delete = key == COMMODORE_DELETE and self.on_delete is not None
            if key in (ESCAPE, INTERRUPT) or is_delete:
                given = None
                break
            if key == ENTER:
                given = reread(text, self._screen.look.charset)
                if await self._is_answer(given, show, secret=secret):
                    break
                text = ""
            elif key == F1 or (key == "?" and not text and not secret):
                await self._explain(self._field_explained(meaning, longest, accept))
                show()
            elif key == BACKSPACE and text:
                text = text[:-1]
            elif letters := [each for each in letters_of(key) if len(each) == 1 and accept(each)]:
                is_too_long = len(text) + len(letters) > longest
                text = (text + "".join(letters))[:longest]
                if is_too_long and not is_full:
                    is_full = True
                    self._screen.display.hint(f"|07{_up_to(longest)}")
            else:
                continue
            self._screen.display.typed("*" * len(text) if secret else text)
            if on_change is not None:
                on_change(text)
            if is_whole(text):
                given = text
                if self._keyboard.next_key() == ENTER:  # this program sends whole lines
                    await self._keyboard.key()
                break
        self._screen.display.answered()
        self._screen.offer("any")
        if is_delete and self.on_delete is not None:
            await self.on_delete()
        return given

    async def _is_answer(self, text: str, show: Callable[[], None], *, secret: bool) -> bool:
        """Return whether a text that was entered is the answer to a field.

        A slash command is run instead. A text with letters that cannot be read must be typed again.
        """
        if UNREADABLE in text:
            await self._refuse_letters()
            show()
        elif secret or self._keyboard.commands is None or not is_command(text):
            return True
        else:
            self._screen.display.typed("")
            await self._keyboard.command(text)
        return False

    def _word_at_a_field(
        self, line: WholeLine, accept: Callable[[str], bool], prompt: str, *, secret: bool
    ) -> str:
        """Return the key that a line means at a field; "" if the line is typed into it or ignored.

        A number is typed into its field, unless a word that the prompt lacks stands before it.
        """
        leave = {"": _("a number"), "Q": _("Quit")}
        letter, _number = chosen(line.text, leave) or ("", "")
        if letter == HELP and not secret and (line.text == HELP or not accept(" ")):
            return F1
        word = (line.text.split() or [line.text])[0].casefold()
        if any(map(accept, line.text)) and (accept(word[0]) or word in prompt.casefold()):
            self._keyboard.take_apart(line)
            return ""
        if not letter:
            self.say_useless(line, leave)
        return ESCAPE if letter == "Q" else ""

    def _field_explained(
        self, meaning: str, longest: int, accept: Callable[[str], bool]
    ) -> list[str]:
        paragraphs = [f"|07{meaning}", ""] if meaning else []
        back = _("Enter alone goes back, unless the question says what else it means.")
        keys = self._keyboard.suited(
            _("Enter sends, Backspace erases, Esc goes back."),
            back if accept(" ") else _("The word quit goes back."),
        )
        return [*paragraphs, f"|07{_up_to(longest)} {keys}"]

    async def _refuse_letters(self) -> None:
        """Let `on_unread` help with letters that cannot be read, or say what the caller can do."""
        self._screen.display.answered()
        self._keyboard.forget_keys()  # typed ahead for the next question
        if self.on_unread is not None and await self.on_unread():
            return
        words = _(
            "A letter that you typed can't be read here. Type this again without it, or set your"
            " terminal to UTF-8."
        )
        if self._screen.look.charset.is_of_home_computer:
            words = _("A letter that you typed can't be read here. Type this again without it.")
        self._screen.say(f"|12{words}")

    async def explain(
        self,
        choices: Mapping[str, str],
        meanings: Mapping[str, str],
        default: str | None = None,
        cancel: str | None = None,
    ) -> None:
        """Explain keys, for callers of `Keyboard.key`, who must show their prompt again."""
        by_word = self._keyboard.sends_only_lines
        cancel = None if by_word else cancel  # such a program has no Esc
        paragraphs = _keys_explained(choices, meanings, default, cancel, by_word=by_word)
        paragraphs.append(f"|15{REREAD}|07  {_('Show or read this screen again.')}")
        if self._keyboard.on_lines is not None and self._screen.look.paint is not Paint.LINES:
            paragraphs.append(f"|15{LINES}|07  {_('Plain lines, for a screen reader.')}")
        if self._keyboard.sends_words:
            paragraphs.append(f"|07{_('You can type words too, such as rules, bank or bet 5.')}")
        if self._keyboard.commands is not None:
            paragraphs.append(f"|15{COMMAND}|07  {self._keyboard.commands.meaning()}")
        await self._explain(paragraphs)

    def say_useless(self, key: str, choices: Mapping[str, str]) -> None:
        """Tell the caller that a key does nothing here, and the key of a label that begins so."""
        if isinstance(key, WholeLine):
            labels = ", ".join(filter(None, choices.values()))
            words = _("{words} means nothing here. You can type: {choices}.")
            self._screen.display.hint(f"|07{words.format(words=literal(key.text), choices=labels)}")
            return
        words = _("{key} does nothing here. Type ? for the keys that do.")
        if key != ENTER and (len(key) > 1 or key == UNREADABLE):
            words = _("That key does nothing here. Type ? for the keys that do.")
        named = _("Enter") if key == ENTER else literal(key.upper())
        begun = ((each, label) for each, label in choices.items() if label[:1].upper() == named)
        letter, label = next(begun, ("", ""))
        if letter:
            words = _("{key} does nothing here: type {letter} for {label}.")
        words = words.format(key=named, letter=letter, label=label)
        self._screen.display.hint(f"|07{words}")

    async def _explain(self, paragraphs: Sequence[str]) -> None:
        """Show paragraphs and the meanings of the screen's fields, and then the screen again."""
        before = self._screen.display.view()
        scene = before.scene
        in_lines = not self._screen.is_painted
        fields = scene.explain(in_lines=in_lines) if isinstance(scene, Explained) else ()
        if in_lines:
            self._screen.display.answered()
        await self._pager.read(
            _("Help"), "\n".join((*paragraphs, *([""] if fields else []), *fields))
        )
        if isinstance(self._screen.display, CanvasDisplay):
            meanwhile = self._screen.display.view()
            if scene is not None:
                self._screen.display.stage(scene)
                self._screen.display.take_back((*before.messages, *meanwhile.messages))
            for text in (*before.messages, *meanwhile.messages):
                self._screen.say(text)
        else:
            self._screen.display.go_back_to(scene)


def _keys_explained(
    choices: Mapping[str, str],
    meanings: Mapping[str, str],
    default: str | None,
    cancel: str | None,
    *,
    by_word: bool,
) -> list[str]:
    paragraphs = list[str]()
    for letter, label in choices.items():
        if label:
            words = meanings.get(letter)
            key = f"{label} ({letter})" if by_word and words else letter
            paragraphs.append(f"|15{key}|07  {_(words) if words else label}")
    if default is not None and choices.get(default):
        paragraphs.append(f"|15{_('Enter')}|07  {choices[default]}")
    if cancel is not None and choices.get(cancel):
        paragraphs.append(f"|15{_('Esc')}|07  {choices[cancel]}")
    return paragraphs


def _up_to(longest: int) -> str:
    return _("Type up to {longest} characters.").format(longest=longest)
