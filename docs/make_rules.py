"""Writes what is made from the rules' data: their pages, the README's table, what is looked up.

Run it from anywhere after a change in ``rules/``::

    python docs/make_rules.py
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from pprint import pformat

from tapemigrate.rules import catalog
from tapemigrate.rules.pages import explain

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
TABLES = ROOT / "tapemigrate" / "rules" / "tables.py"
BEGIN = "<!-- rules: made by docs/make_rules.py -->"
END = "<!-- end of rules -->"
# What is not for people to read.
LOOKED_UP = ("symbols", "modules", "unlisted", "method", "words")


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


def looked_up() -> str:
    """The module of what every run looks up, so that none has to parse the data for it."""
    tables = {}
    for path in sorted((ROOT / "rules").glob("*.toml")):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        tables[path.stem] = {key: data[key] for key in LOOKED_UP if key in data}
    return (
        '"""What runs look up of the rules\' data: made by ``docs/make_rules.py``."""\n\n'
        "# fmt: off\n"
        "from typing import Any\n\n"
        f"TABLES: dict[str, dict[str, Any]] = {pformat(tables, width=100, sort_dicts=False)}\n"
    )


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
    TABLES.write_text(looked_up(), encoding="utf-8", newline="\n")
    readme = ROOT / "README.md"
    text = with_table(readme.read_text(encoding="utf-8"))
    readme.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
