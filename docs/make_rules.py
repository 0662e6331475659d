"""Writes what is made from the rules' data: ``docs/rules/`` and the table of rules in the README.

Run it from anywhere after a change in ``rules/``::

    python docs/make_rules.py
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tapemigrate.rules import catalog
from tapemigrate.rules.pages import explain

ROOT = Path(__file__).resolve().parents[1]
BEGIN = "<!-- rules: made by docs/make_rules.py -->"
END = "<!-- end of rules -->"


def table(prefix: str) -> str:
    """The rules as a Markdown table; ``prefix`` leads to the folder of their pages."""
    rows = ["| code | name | what it finds | fix |", "|---|---|---|---|"]
    for rule in catalog.rules():
        fixes = ", ".join(each for each in rule.applicability if each != "none") or "–"
        rows.append(
            f"| [{rule.code}]({prefix}{rule.code}.md) | {rule.name} | {rule.summary} | {fixes} |"
        )
    return "\n".join(rows) + "\n"


def pages() -> Mapping[Path, str]:
    """Every page of ``docs/rules/``, by its path."""
    folder = ROOT / "docs" / "rules"
    found = {folder / f"{code}.md": explain(code) for code in catalog.codes()}
    found[folder / "index.md"] = f"# Rules\n\n{table('')}"
    return found


def with_table(readme: str) -> str:
    """The README with the table between its markers brought up to date.

    Raises:
        ValueError: A marker is missing.
    """
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the README lacks {BEGIN!r} or {END!r}")
    return f"{before}{BEGIN}\n\n{table('docs/rules/')}\n{END}{after}"


def main() -> None:
    """Writes all of it."""
    for path, text in pages().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    readme = ROOT / "README.md"
    text = with_table(readme.read_text(encoding="utf-8"))
    readme.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
