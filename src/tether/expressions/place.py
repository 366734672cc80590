"""Where in an expression something is wrong: the sentence, and below it the text with the place marked."""

from typing import NamedTuple

WINDOW = 72  # characters of a long expression that are shown


class Place(NamedTuple):
    """Some characters of a text, from start to before end."""

    text: str
    start: int
    end: int

    @property
    def words(self) -> str:
        """The characters themselves."""
        return self.text[self.start : self.end]

    def error(self, sentence: str, kind: type[ValueError] = ValueError) -> ValueError:
        """Return the error that says a sentence and marks the place."""
        first = (
            0 if len(self.text) <= WINDOW else max(0, min(self.start - WINDOW // 2, len(self.text) - WINDOW))
        )
        line = self.text[first : first + WINDOW]
        before = "... " if first else ""
        after = " ..." if first + WINDOW < len(self.text) else ""
        width = max(1, min(self.end, first + WINDOW) - self.start)
        mark = " " * (len(before) + self.start - first) + "^" + "~" * (width - 1)
        return kind(f"{sentence}\n    {before}{line}{after}\n    {mark}")
