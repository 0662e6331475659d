"""Tests look at what comes out, not at how long it takes on a machine that others use as well."""

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--device", choices=("cpu", "gpu"), default="cpu", help="where fixtures are computed"
    )
