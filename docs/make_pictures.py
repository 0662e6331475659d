"""Draws the pictures of docs/how-a-tape-is-placed.md: ``docs/pictures/``.

Run it from anywhere after a change here::

    python docs/make_pictures.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

FOLDER = Path(__file__).resolve().parent / "pictures"

_ROW = 24
_CHAR = 8.4
_LEFT = 30
_TOP = 24


@dataclass(frozen=True)
class Row:
    """A line of code, and what is said about it on the right. ``kind`` is how it stands out."""

    code: str
    note: str = ""
    kind: str = "plain"


@dataclass(frozen=True)
class Box:
    """A frame round the rows from ``first`` to ``last`` (from zero), beginning at a column."""

    label: str
    first: int
    last: int
    column: int
    end: int
    color: str


_INK = {"plain": "#1f2328", "source": "#0550ae", "target": "#116329", "idle": "#6e7781"}


def draw(title: str, rows: Sequence[Row], boxes: Sequence[Box]) -> str:
    """An SVG of the rows, with the frames behind them."""
    notes = max(max(len(row.code) for row in rows), *(box.end for box in boxes)) + 3
    width = _LEFT * 2 + _CHAR * (notes + max(len(row.note) for row in rows))
    height = _TOP * 2 - 8 + _ROW * len(rows)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
        f'width="{width:.0f}" role="img" font-family="ui-monospace, monospace" font-size="14">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width:.0f}" height="{height}" rx="8" fill="#ffffff" stroke="#d0d7de"/>',
    ]
    for box in boxes:
        x, y = _LEFT + _CHAR * box.column - 8, _TOP + _ROW * box.first - 4
        wide, high = _CHAR * (box.end - box.column) + 16, _ROW * (box.last - box.first + 1) + 2
        lines.append(
            f'<rect x="{x:.0f}" y="{y}" width="{wide:.0f}" height="{high}" rx="6" '
            f'fill="{box.color}" fill-opacity="0.12" stroke="{box.color}" stroke-width="1.5"/>'
        )
        lines.append(
            f'<text x="{x + wide - 6:.0f}" y="{y + 14}" text-anchor="end" font-size="11" '
            f'fill="{box.color}">{escape(box.label)}</text>'
        )
    for number, row in enumerate(rows):
        y = _TOP + _ROW * number + 15
        code = row.code.lstrip()
        if code:
            x = _LEFT + _CHAR * (len(row.code) - len(code))
            # The length is given, because not every reader's font is as wide as this one.
            lines.append(
                f'<text x="{x:.0f}" y="{y}" fill="{_INK[row.kind]}" lengthAdjust="spacingAndGlyphs"'
                f' textLength="{_CHAR * len(code):.0f}">{escape(code)}</text>'
            )
        if row.note:
            x = _LEFT + _CHAR * notes
            lines.append(
                f'<text x="{x:.0f}" y="{y}" fill="{_INK[row.kind]}" font-size="12">'
                f"{escape(row.note)}</text>"
            )
    return "\n".join([*lines, "</svg>"]) + "\n"


def pictures() -> Mapping[str, str]:
    """Every picture, by the name of its file."""
    region = draw(
        "The tape covers the lines from the first use of a source to the target",
        [
            Row("def loss(x, labels):"),
            Row("    scale = tf.constant(0.1)", "needed for y, but does not come from x", "idle"),
            Row("    hidden = tf.tanh(x * scale)", "first use of the source x", "source"),
            Row("    count = tf.size(labels)", "stands between; not needed for y", "idle"),
            Row("    y = tf.reduce_sum(hidden * hidden)", "the target", "target"),
            Row("    return tf.gradients(y, x)[0]", "asks: d y / d x"),
        ],
        [Box("region", 2, 4, 4, 48, "#0969da")],
    )
    orders = draw(
        "The gradient of first order runs while the tape of second order records",
        [
            Row(""),
            Row(""),
            Row("        u = network(x, t)", "recorded by both tapes", "source"),
            Row("    u_t, u_x = tape1.gradient(u, [t, x])", "recorded by tape 2", "target"),
            Row("u_xx = tape2.gradient(u_x, x)", "recorded by none"),
        ],
        [
            Box("tape 2: second order", 0, 3, 2, 48, "#8250df"),
            Box("tape 1: first order", 1, 2, 6, 46, "#0969da"),
        ],
    )
    return {"orders.svg": orders, "region.svg": region}


def main() -> None:
    """Writes all of them."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in pictures().items():
        (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
