"""A measured figure, and how much it may be."""

from __future__ import annotations

import msgspec


class Figure(msgspec.Struct, frozen=True):
    """One measurement. `unit` is "" for a ratio; `beside` says what it is a ratio of."""

    name: str
    value: float
    most: float
    unit: str = ""
    beside: str = ""

    @property
    def is_over(self) -> bool:
        """Whether it is more than it may be."""
        return self.value > self.most

    @property
    def value_text(self) -> str:
        """The value with its unit."""
        return f"{self.value:.2f}{self.unit}"

    @property
    def most_text(self) -> str:
        """The bound with its unit."""
        return f"{self.most:g}{self.unit}"

    def __str__(self) -> str:
        bound = f"<= {self.most_text}"
        measured = f"{self.value:7.2f}{self.unit:3} {bound:10} {self.beside:14}"
        return f"{self.name:46} {measured} {'TOO SLOW' if self.is_over else 'ok'}"
