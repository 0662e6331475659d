"""``[tool.tapemigrate]``, read and refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapemigrate.settings import Resolver, Settings, SettingsError, load

CODES = ("TM101", "TM102", "TM201", "TM901", "TM904")


def written(folder: Path, text: str) -> str:
    path = folder / "pyproject.toml"
    path.write_text(text)
    return str(path)


def test_every_key(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        [tool.tapemigrate]
        select = ["TM1", "TM904"]
        ignore = ["tm102"]
        extend-exclude = ["third_party/"]
        unsafe-fixes = true
        target = "v1-graph"
        [tool.tapemigrate.per-file-ignores]
        "tests/*" = ["TM904"]
        [tool.tapemigrate.aliases]
        "mylib.grads" = "tensorflow.gradients"
        """,
    )
    settings = load(path, CODES)
    assert settings == Settings(
        root=str(tmp_path),
        select=("TM1", "TM904"),
        ignore=("TM102",),
        extend_exclude=("third_party/",),
        per_file_ignores={"tests/*": ("TM904",)},
        unsafe_fixes=True,
        target="v1-graph",
        aliases={"mylib.grads": "tensorflow.gradients"},
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("selct = []", "unknown key 'selct' in [tool.tapemigrate]; did you mean 'select'?"),
        ("select = ['TM110']", "unknown code 'TM110'; did you mean 'TM10"),
        ("select = ['']", "unknown code ''"),
        ("select = 'TM101'", "select must be a list of strings"),
        ("ignore = [1]", "ignore must be a list of strings"),
        (
            "per-file-ignores = {'a/*' = 'TM101'}",
            "per-file-ignores: 'a/*' must be a list of strings",
        ),
        ("unsafe-fixes = 'yes'", "unsafe-fixes must be true or false"),
        ("target = 'v3'", "target is 'v3'; it can be v2 or v1-graph"),
        ("per-file-ignores = ['a']", "per-file-ignores must be a table of lists of codes"),
        ("per-file-ignores = {'a' = ['X1']}", "unknown code 'X1'"),
        ("per-file-ignores = {'!' = ['TM1']}", "per-file-ignores: '!' is no pattern of gitignore"),
        ("extend-exclude = ['[z-a]']", "extend-exclude: '[z-a]' is no pattern of gitignore's"),
        ("aliases = {'a' = 1}", "aliases must be a table of names"),
        ("aliases = {'a b' = 'tf.gradients'}", "aliases: 'a b' is no dotted name"),
        ("aliases = {'' = 'tf.gradients'}", "aliases: '' is no dotted name"),
        (
            "aliases = {'a' = 'tf.gradient'}",
            "aliases: no rule is about 'tf.gradient'; did you mean 'tensorflow.gradients'?",
        ),
        ("root = '/'", "unknown key 'root'"),
        ("select = [", "is not valid TOML"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_line(tmp_path: Path, line: str, message: str) -> None:
    path = written(tmp_path, f"[tool.tapemigrate]\n{line}\n")
    with pytest.raises(SettingsError) as caught:
        load(path, CODES)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert message in text


@pytest.mark.parametrize(
    ("api", "path"),
    [
        ("tf.gradients", "tensorflow.gradients"),
        ("tf.compat.v1.hessians", "tensorflow.compat.v1.hessians"),
        ("tfe.implicit_gradients", "tensorflow.contrib.eager.implicit_gradients"),
        ("tensorflow.gradients", "tensorflow.gradients"),
        ("gradients", "gradients"),
    ],
)
def test_an_alias_may_name_the_api_as_code_does(tmp_path: Path, api: str, path: str) -> None:
    text = f"[tool.tapemigrate]\naliases = {{'my.grads' = '{api}'}}\n"
    settings = load(written(tmp_path, text), CODES)
    assert settings is not None
    assert settings.aliases == {"my.grads": path}


def test_a_broken_file_of_somebody_else_is_none_of_ours(tmp_path: Path) -> None:
    assert load(written(tmp_path, "this is no TOML"), CODES) is None
    assert load(written(tmp_path, "# tapemigrate\n[tool.other]\n"), CODES) is None


@pytest.mark.parametrize(
    ("select", "ignore", "enabled"),
    [
        ((), (), True),
        (("TM1",), (), True),
        (("TM2",), (), False),
        (("TM1",), ("TM101",), False),
        (("TM101",), ("TM1",), True),
        (("TM101",), ("TM101",), False),
        ((), ("TM",), False),
    ],
)
def test_the_more_specific_decides(
    select: tuple[str, ...], ignore: tuple[str, ...], enabled: bool
) -> None:
    settings = Settings(select=select, ignore=ignore)
    assert settings.enabled("TM101", "f.py") is enabled
    assert settings.enabled("TM901", "f.py")


def test_per_file_ignores(tmp_path: Path) -> None:
    settings = Settings(
        root=str(tmp_path), per_file_ignores={"tests/": ("TM1",), "*_pb2.py": ("TM",)}
    )
    assert not settings.enabled("TM101", str(tmp_path / "tests" / "a.py"))
    assert settings.enabled("TM201", str(tmp_path / "tests" / "a.py"))
    assert not settings.enabled("TM201", str(tmp_path / "x" / "a_pb2.py"))
    assert settings.enabled("TM101", str(tmp_path / "a.py"))


def test_the_nearest_file_wins_and_the_command_line_over_it(tmp_path: Path) -> None:
    inner = tmp_path / "inner" / "deep"
    inner.mkdir(parents=True)
    written(tmp_path, "[tool.tapemigrate]\nselect = ['TM1']\nignore = ['TM102']\n")
    written(tmp_path / "inner", "[tool.tapemigrate]\nselect = ['TM2']\nunsafe-fixes = true\n")
    written(inner, "[tool.other]\n")
    plain = Resolver(CODES)
    assert plain(str(tmp_path / "a.py")).select == ("TM1",)
    assert plain(str(inner / "a.py")).select == ("TM2",)
    assert plain(str(inner / "a.py")).unsafe_fixes
    over = Resolver(CODES, select=("TM9",), unsafe_fixes=False)
    assert over(str(tmp_path / "a.py")).select == ("TM9",)
    assert over(str(tmp_path / "a.py")).ignore == ()
    assert not over(str(inner / "a.py")).unsafe_fixes
    more = Resolver(CODES, ignore=("TM9",))
    assert more(str(tmp_path / "a.py")).ignore == ("TM102", "TM9")


def test_a_file_below_broken_settings_has_none(tmp_path: Path) -> None:
    written(tmp_path, "[tool.tapemigrate]\nselct = []\n")
    resolver = Resolver(CODES)
    for _ in range(2):
        with pytest.raises(SettingsError, match="selct"):
            resolver(str(tmp_path / "a.py"))
