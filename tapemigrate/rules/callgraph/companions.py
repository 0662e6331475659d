"""Functions that are handed to the same place, where a call may be one of any of them."""

from __future__ import annotations

import ast

from tapemigrate.rules.callgraph.namesakes import Namesakes
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project


def companions(project: Project, unit: Unit, function: ast.FunctionDef) -> Namesakes | str:
    """``function`` and those that a call of it may mean as well, or why one takes no tape."""
    found = Namesakes()
    pending = [(unit, function)]
    while pending:
        home, member = pending.pop()
        each = found.admit(project, home, member)
        if each is None:
            continue
        if each.problem:
            return each.problem
        found.unseen += [reason for reason in each.unseen if reason not in found.unseen]
        for site in each.calls:
            if site.call not in found.meant:
                found.calls.append(site)
            found.meant.setdefault(site.call, set()).add(member)
        pending += each.mates
    return found
