"""What files of a program have from each other means the same, however they import it."""

from __future__ import annotations

import pytest

from fixtures.catalogue import Fixture
from tests.imported_otherwise import (
    WAYS,
    Way,
    by_other_names,
    by_second_names,
    by_stars,
    imported_otherwise,
    in_a_package,
)
from tests.test_fixtures import FIXTURES, changed, fix

# What both sides of were run, and gave the same: the one way, or the other name, makes them right.
RIGHT = {
    by_stars: """
        unsafe/name_that_a_function_of_its_module_gives mustflag/gradients_handed_on_by_a_module
    """,
    by_second_names: "mustflag/gradients_handed_on_by_a_module",
    by_other_names: """
        mustflag/gradients_handed_on_by_a_module
        traps/list_filled_by_way_of_another_file traps/list_handed_on_by_another_file
        traps/star_import_of_what_reverses traps/subclass_by_another_name
    """,
}
# Left: a container that a class holds, by another name of the class; a source by another name.
LEFT = {by_second_names: "traps/imported_source_by_another_name traps/subclass_by_another_name"}
UNSAFE = [f for f in FIXTURES if f.expect in ("flag", "unsafe") and len(f.texts) > 1]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("fixture", UNSAFE, ids=lambda fixture: fixture.name)
def test_no_import_makes_a_fix_safe(fixture: Fixture, way: Way) -> None:
    if fixture.name in f"{RIGHT.get(way, '')} {LEFT.get(way, '')}".split():
        pytest.skip("it is right so, or known to be left")
    files = imported_otherwise(fixture.texts, way)
    if files is None:
        pytest.skip("it imports nothing of its own that can be had in this way")
    assert not changed(fixture, fix(files, unsafe=False), files)


@pytest.mark.parametrize("exported", [True, False], ids=["exported", "dotted"])
@pytest.mark.parametrize("fixture", UNSAFE, ids=lambda fixture: fixture.name)
def test_no_package_makes_a_fix_safe(fixture: Fixture, exported: bool) -> None:
    files = in_a_package(fixture.texts, fixture.main, exported)
    if files is None:
        pytest.skip("its modules lie in folders already")
    assert not changed(fixture, fix(files, unsafe=False), files)
