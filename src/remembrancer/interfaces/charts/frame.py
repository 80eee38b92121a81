"""The HTML around a chart: a figure with its caption and pictures, a table of its numbers, and legends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from hashlib import blake2b
from typing import Final

from markupsafe import Markup

from remembrancer.interfaces.charts.svg import NOTHING, element, joined, number
from remembrancer.values import dataclass


class ContainerWidths(StrEnum):
    """The containers of a picture: all, those at least 40rem wide, or narrower ones."""

    ANY = ""
    WIDE = "chart-wide"
    NARROW = "chart-narrow"


_MOST: Final = {ContainerWidths.WIDE: 630.0, ContainerWidths.NARROW: 300.0}
"""The width in pixels of the picture in the narrowest such container."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """SVG marks in pixels, with their size.

    With a `width`, the picture is scaled as a whole. Without one it is as wide as its container, and the marks have
    their horizontal positions in percent.
    """

    marks: Markup
    height: float
    width: float | None = None
    room: ContainerWidths = ContainerWidths.ANY


def figure(
    name: str,
    *,
    title: str,
    description: str,
    pictures: Sequence[Picture],
    below: Markup = NOTHING,
    linked: bool = False,
) -> Markup:
    """A figure of the class `chart-NAME` with a caption: the title, and below it the `description`.

    The caption labels the pictures for screen readers. `linked`: the pictures contain links, so they get the role
    "group": the contents of an "img" cannot be reached.
    """
    content = joined(picture.marks for picture in pictures)
    # Derived from the content, so that several charts on one page have different ids.
    parts = "\x1f".join((name, title, description, content, below)).encode("utf-8", "replace")
    identity = f"chart-{blake2b(parts, digest_size=6).hexdigest()}"
    caption = element(
        "figcaption",
        element("span", title, class_="chart-title", id=f"{identity}-title"),
        element("span", description, class_="chart-told", id=f"{identity}-told") if description else None,
    )
    named = f"{identity}-title {identity}-told" if description else f"{identity}-title"
    role = "group" if linked else "img"
    return element(
        "figure",
        caption,
        *(_svg(each, role, named, linked=linked) for each in pictures),
        below,
        class_=f"chart chart-{name}",
    )


def small_picture(name: str, label: str, picture: Picture) -> Markup:
    """A picture without a caption; `label` describes it to screen readers."""
    return _root(picture, class_=f"chart-{name}", role="img", aria_label=label)


def ornament(name: str, picture: Picture) -> Markup:
    """A picture that screen readers skip, because the adjacent text says the same."""
    return _root(picture, class_=f"chart-{name}", aria_hidden="true")


def empty(name: str, title: str, description: str) -> Markup:
    """A note in place of a chart without data."""
    return element(
        "div",
        element("p", title, class_="chart-title"),
        element("p", description, class_="chart-told") if description else None,
        class_=f"chart chart-empty chart-{name}",
    )


def table(summary: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup:
    """A collapsed table of a chart's numbers; its summary opens it. The first cell of a row is its header."""
    head = element("tr", *(element("th", each, scope="col") for each in heads))
    body = joined(
        element("tr", element("th", row[0], scope="row"), *(element("td", cell) for cell in row[1:])) for row in rows
    )
    grid = element("table", element("thead", head), element("tbody", body))
    # A scrolling region must be focusable by keyboard.
    reach = element("div", grid, class_="chart-scroll", role="region", tabindex="0", aria_label=summary)
    return element("details", element("summary", summary), reach, class_="chart-data")


def key(entries: Iterable[tuple[Markup, str]], *, label: str) -> Markup:
    """A legend: each mark with its label."""
    items = joined(element("li", mark, element("span", words)) for mark, words in entries)
    return element("ul", items, class_="chart-key", aria_label=label)


def swatch(marks: Markup, *, width: float = 18.0) -> Markup:
    """A mark for a legend, 14 pixels high."""
    return element(
        "svg",
        marks,
        class_="chart-swatch",
        width=width,
        height=14.0,
        viewBox=f"0 0 {number(width)} 14",
        aria_hidden="true",
    )


def _svg(picture: Picture, role: str, named: str, *, linked: bool) -> Markup:
    drawn = _root(picture, class_=f"chart-picture {picture.room}".rstrip(), role=role, aria_labelledby=named)
    most = _MOST.get(picture.room)
    if most is None or picture.width is None or picture.width <= most:
        return drawn
    # A wider picture scrolls, as it would be illegible if scaled down. Links in it take the focus themselves.
    reach = "0" if not linked else None
    return element(
        "div", drawn, class_=f"chart-scroll {picture.room}", role="region", tabindex=reach, aria_labelledby=named
    )


def _root(picture: Picture, **attributes: str) -> Markup:
    if picture.width is None:
        return element("svg", picture.marks, width="100%", height=picture.height, **attributes)
    view = f"0 0 {number(picture.width)} {number(picture.height)}"
    return element("svg", picture.marks, width=picture.width, height=picture.height, viewBox=view, **attributes)
