"""Branches and loops of the graph, which keep more for their gradients than a session has seen."""

from __future__ import annotations

from tapemigrate.patterns import late
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import Project

_WORDS = late(
    r"\b(?:cond|case|switch_case|scan)\b|while_loop|map_fn|fold[lr]\b|_rnn\b|_decode\b|LSTM|GRU|RNN"
)


def runs_branches(project: Project, unit: Unit) -> bool:
    """Whether it is a program for sessions, and some file may make a branch or a loop of the graph.

    The session may be another file's, which hands it on.
    """
    return (unit.graph or project.once(_has_sessions)) and project.once(_has_branches)


def _has_sessions(project: Project) -> bool:
    return any("Session(" in each.text for _, each in project.units.files())


def _has_branches(project: Project) -> bool:
    return any(_WORDS.search(each.text) for _, each in project.units.files())
