"""The templates of the pages beside this file; a page that lacks a name is an error."""

from __future__ import annotations

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from tests.field.environments import HERE


def template(name: str, *, is_html: bool = False) -> Template:
    """A template by the name of its file. What HTML takes in is escaped."""
    world = Environment(
        loader=FileSystemLoader(HERE), autoescape=is_html, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    return world.get_template(name)
