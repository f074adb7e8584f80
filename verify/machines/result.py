"""A run and its faults."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

LONGEST_WAIT = 30.0  # seconds, that a caller may wait for an answer


@dataclass
class Result:
    """A run and its faults."""

    faults: list[str] = field(default_factory=list)
    counted: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    longest_wait: float = 0.0
    longest_without_a_word: float = 0.0
    longest_silence: float = 0.0

    def add(self, other: Result) -> None:
        self.faults += other.faults
        self.counted += other.counted
        self.wrong += other.wrong
        self.longest_wait = max(self.longest_wait, other.longest_wait)
        self.longest_without_a_word = max(self.longest_without_a_word, other.longest_without_a_word)
        self.longest_silence = max(self.longest_silence, other.longest_silence)

    def waited(self, who: str, seconds: float) -> None:
        """Count a wait for an answer; one of more than `LONGEST_WAIT` is wrong."""
        self.longest_wait = max(self.longest_wait, seconds)
        if seconds > LONGEST_WAIT:
            self.wrong.append(f"{who} waited {seconds:.1f} s for an answer")

    def __str__(self) -> str:
        kinds = Counter(name.partition(":")[0] for name in self.faults)
        faults = ", ".join(f"{times} {name}" for name, times in sorted(kinds.items()))
        counted = ", ".join(f"{times} {what}" for what, times in sorted(self.counted.items()))
        return (
            f"faults: {faults or 'none'}; {counted}; longest wait {self.longest_wait:.1f} s,"
            f" without a word {self.longest_without_a_word:.1f} s, longest time without an answer"
            f" {self.longest_silence:.1f} s; {len(self.wrong)} wrong"
        )
