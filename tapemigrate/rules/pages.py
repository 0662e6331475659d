"""The rules' pages, for people to read: Markdown made of the rules' data."""

from __future__ import annotations

from tapemigrate.rules import catalog


def explain(code: str) -> str:
    """The rule's page, in Markdown.

    Raises:
        KeyError: There is no such rule.
    """
    page = catalog.rule(code)
    fixes = {
        "safe": "safe",
        "unsafe": "unsafe (with `--unsafe-fixes`)",
        "none": "none in some cases",
    }
    offered = [fixes[each] for each in page.applicability if each != "none"]
    if not offered:
        availability = "There is no fix."
    else:
        availability = f"Fix: {' or '.join(offered)}"
        availability += ", or none." if "none" in page.applicability else "."
    parts = [
        f"# {page.code}: {page.name}",
        f"{page.summary}.",
        availability,
        "## What it does",
        page.what,
        "## Why it is a problem",
        page.why,
        f"Under TensorFlow 2: {page.under_tf2}",
    ]
    if page.example:
        parts += [
            "## Example",
            f"```python\n{page.example.before}```",
            "becomes" if offered else "Write instead",
            f"```python\n{page.example.after}```",
        ]
    parts += ["## Fix safety", page.fix_safety]
    successors = _successors(page.code)
    if successors:
        parts += ["## Symbols", successors]
    parts += ["## References", "\n".join(f"* <{each}>" for each in page.references)]
    return "\n\n".join(parts) + "\n"


def _successors(code: str) -> str:
    """The table of what takes the place of each symbol of a rule, where its data says so."""
    rows = []
    for api, symbol in {
        symbol.api: symbol for symbol in catalog.symbols().values() if symbol.rule == code
    }.items():
        if symbol.becomes:
            successor = f"`{symbol.becomes}`".replace("`tensorflow.", "`tf.")
            successor = successor.replace("`builtins.", "`")
        elif symbol.call:
            successor = f"`{symbol.call.format(tf='tf')}`"
        elif symbol.instead:
            successor = symbol.instead
        else:
            return ""
        if symbol.removed:
            successor = f"goes: {successor}"
        if symbol.assumes:
            successor += f", if {symbol.assumes}"
        rows.append(f"| `{api}` | {successor} |")
    return "\n".join(["| symbol | in TensorFlow 2 |", "|---|---|", *rows]) if rows else ""
