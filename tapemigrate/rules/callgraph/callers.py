"""Who calls a function, and whether all of its callers are in sight."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tapemigrate.flow.functions import Function
from tapemigrate.flow.paths import Path, path_of
from tapemigrate.rules.callgraph.classes import PLAIN_BASES, classes, is_of_library
from tapemigrate.rules.callgraph.descent import descends, means_class
from tapemigrate.rules.callgraph.imported import MOST_PACKAGES, leads_to
from tapemigrate.rules.callgraph.places import import_path, stem, steps_of
from tapemigrate.rules.finding import Unit
from tapemigrate.rules.project import CallSite, Mentions, Project
from tapemigrate.source.trees import walk

_PLAIN = frozenset({"staticmethod", "classmethod", "abstractmethod"})
_NAMED = ("_scope", "scalar", "histogram", "summary", "get_variable", "placeholder")
_SETTERS = frozenset({"setattr", "patch", "setitem"})


@dataclass(slots=True)
class Callers:
    """The calls of one function.

    ``problem`` says why a parameter more would break some of them, ``unseen`` what may call the
    function besides, as it is. ``passed`` is where it is handed on as a value; ``mates``
    are functions of other names that a call may mean for that. ``unsure`` are calls of it or of
    another of its name, which stand among the unseen as well; ``overridden`` says where another one
    takes its place.
    """

    calls: list[CallSite] = field(default_factory=list)
    passed: list[tuple[Unit, ast.AST]] = field(default_factory=list)
    problem: str = ""
    unseen: list[str] = field(default_factory=list)
    unsure: list[CallSite] = field(default_factory=list)
    mates: list[tuple[Unit, ast.FunctionDef]] = field(default_factory=list)
    overridden: str = ""


def has_plain_decorators(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether what is called is the function as it stands."""
    return all(_last(each) in _PLAIN for each in function.decorator_list)


def named_callers(project: Project, unit: Unit, function: ast.FunctionDef) -> Callers:
    """Every call of ``function`` by its name in the files at hand."""
    found = Callers()
    if not has_plain_decorators(function):
        found.problem = f"`{function.name}` is decorated"
        return found
    if function.name == "__init__":
        return _constructions(project, unit, function, found)
    if is_called_by_python(function):
        found.problem = f"`{function.name}` is called by Python itself"
        return found
    resolver = Resolver(project, unit, function)
    found.problem = resolver.problem() or _replaced(
        project, unit, function.name, project.class_of(unit, function) is not None
    )
    if private := name_outside(project, unit, function):
        found.problem = found.problem or _replaced(project, unit, private, True)
        found.unseen += _named_outside(project, unit, private)
    found.overridden = resolver.overridden()
    found.unseen += by_another_name(project, unit, function.name, resolver.is_path)
    mentions = project.mentions(function.name)
    for unit_, node in mentions.others:
        if resolver.means(unit_, node) is not False:
            found.passed.append((unit_, node))
    for site in mentions.calls:
        meant = resolver.means(site.unit, site.call.func)
        if meant:
            found.calls.append(site)
        elif meant is None:
            found.unsure.append(site)
            found.unseen.append(may_be_another(unit, function.name, site))
    return found


def is_called_by_python(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it may be called where its name does not stand, as ``__call__`` is."""
    name = function.name
    return name.startswith("__") and name.endswith("__") and name != "__init__"


def name_outside(
    project: Project, unit: Unit, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> str:
    """By what code outside of its class reaches a private method: ``_Net__loss``."""
    cls = project.class_of(unit, function)
    name = function.name
    if cls is None or not name.startswith("__") or name.endswith("__"):
        return ""
    return f"_{cls.name.lstrip('_')}{name}"


def _named_outside(project: Project, unit: Unit, private: str) -> Iterator[str]:
    mentions = project.mentions(private)
    for user, node in [*((c.unit, c.call) for c in mentions.calls), *mentions.others]:
        yield f"`{private}` is used in {place_of(unit, user, node)}"
    for user in project.units.having(private):
        yield from named_in_text(unit, user, private)


def meant_by(
    project: Project, unit: Unit, function: ast.FunctionDef, site: CallSite
) -> bool | None:
    """Whether the call is one of ``function``, which stands in ``unit``; None: it may be."""
    return Resolver(project, unit, function).means(site.unit, site.call.func)


def may_be_another(home: Unit, name: str, site: CallSite) -> str:
    """That a call may be one of the method of that name in ``home``, or of some other."""
    where = place_of(home, site.unit, site.call)
    return f"the call in {where} may be one of `{name}`, or of another"


def _constructions(
    project: Project, unit: Unit, function: ast.FunctionDef, found: Callers
) -> Callers:
    """Where objects of the class are made: ``Class(…)``; its subclasses call as they like."""
    cls = unit.parents.get(function)
    if not isinstance(cls, ast.ClassDef) or isinstance(unit.parents.get(cls), ast.FunctionDef):
        found.problem = "`__init__` is called by Python itself"
        return found
    found.problem = _replaced(project, unit, cls.name)
    if cls.decorator_list or cls.keywords:
        found.problem = f"`{cls.name}` is made by more than its own `__init__`"
    for each in sorted(classes(project).extending(cls.name)):
        found.unseen.append(f"`{each}` extends `{cls.name}`")
    if any(_makes_its_like(node) for node in walk(cls)):
        found.unseen.append(f"`{cls.name}` makes objects of its own class, whichever that is")
    found.unseen += by_another_name(
        project, unit, cls.name, lambda user, path: leads_to(project, path, user, unit, cls.name)
    )
    mentions = project.mentions(cls.name)
    for unit_, node in mentions.others:
        parent = unit_.parents.get(node)
        meant = is_class_of(project, unit, cls, unit_, node)
        if not isinstance(parent, ast.ClassDef) and meant is not False:
            where = place_of(unit, unit_, node)
            found.unseen.append(f"`{cls.name}` is passed on as a value in {where}")
    for site in mentions.calls:
        meant = is_class_of(project, unit, cls, site.unit, site.call.func)
        if meant:
            found.calls.append(site)
        elif meant is None:
            found.unsure.append(site)
            found.unseen.append(may_be_another(unit, cls.name, site))
    return found


def _makes_its_like(node: ast.AST) -> bool:
    """``cls(…)``, ``type(self)(…)``, ``self.__class__(…)``."""
    func = node.func if isinstance(node, ast.Call) else None
    if isinstance(func, ast.Call):
        return isinstance(func.func, ast.Name) and func.func.id == "type"
    if isinstance(func, ast.Attribute):
        return func.attr == "__class__"
    return isinstance(func, ast.Name) and func.id == "cls"


def is_class_of(
    project: Project, home: Unit, cls: ast.ClassDef, unit: Unit, node: ast.AST
) -> bool | None:
    """Whether the node, which bears the name of the class, means it; None: it cannot be told."""
    path = unit.names.qualified(node) if isinstance(node, ast.expr) else None
    if path is None:
        return unit is home and isinstance(node, ast.Name)
    return leads_to(project, path, unit, home, cls.name)


def _replaced(project: Project, home: Unit, name: str, method: bool = False) -> str:
    """Where another function may take the place of this one, with parameters of its own."""
    for unit in project.units.having(name):
        for node in unit.once(_set_attributes).get(name, ()):
            # An object may keep something else under that name; a module has the function there.
            if method or unit.names.qualified(node.value) is not None:
                return f"`{name}` is set anew in {place_of(home, unit, node)}"
    return set_by_text(project, home, name)


def set_by_text(project: Project, home: Unit, name: str) -> str:
    """Where an attribute of that name is given another value: ``setattr(model, "loss", …)``.

    So it is of a class that ``type("Model", (Base,), {"loss": …})`` makes.
    """
    for unit in project.units.having(name):
        for text in unit.once(_texts).get(name, ()):
            call = unit.parents[text]
            if isinstance(call, ast.Dict) and text in call.keys:
                made = unit.parents[call]
                if isinstance(made, ast.Call) and path_of(made.func) == ("type",):
                    return f"`{name}` is set anew in {place_of(home, unit, text)}"
            path = path_of(call.func) if isinstance(call, ast.Call) else None
            if path is not None and {s.lstrip(".") for s in path} & _SETTERS:
                return f"`{name}` is set anew in {place_of(home, unit, text)}"
    return ""


def by_another_name(
    project: Project, home: Unit, name: str, is_path: Callable[[Unit, str], bool | None]
) -> Iterator[str]:
    """How the function may be reached where its name is not called."""
    for unit in project.units.having(name, *LOOKING_UP):
        yield from named_in_text(home, unit, name)
        for node, start, end in unit.once(names_put_together):
            if name.startswith(start) and name.endswith(end):
                yield f"its name may be put together in {place_of(home, unit, node)}"
        for node in unit.once(texts_and_imports).get(name, ()):
            if isinstance(node, ast.alias):
                stmt = unit.parents[node]
                where = place_of(home, unit, stmt)
                path = import_path(stmt, name) if isinstance(stmt, ast.ImportFrom) else name
                meant = is_path(unit, path) is not False
                if unit is home or (meant and node.asname not in (None, node.name)):
                    yield f"`{name}` is imported under another name in {where}"
                elif meant and stem(unit.filename) == "__init__":
                    yield f"`{name}` is exported in {where}"


def named_in_text(home: Unit, unit: Unit, name: str) -> Iterator[str]:
    """The texts of a file by which something of that name may be reached."""
    for node in unit.once(texts_and_imports).get(name, ()):
        if isinstance(node, ast.Constant):
            if _is_exported(unit, node):
                yield f"`{name}` is exported in {place_of(home, unit, node)}"
            elif not _is_no_name(unit.parents[node], node):
                yield f"`{name}` stands as a text in {place_of(home, unit, node)}"


# What a file tells by itself; see ``Unit.once``.


def _set_attributes(unit: Unit) -> dict[str, list[ast.Attribute]]:
    """The attributes that are set or deleted, by name."""
    found: dict[str, list[ast.Attribute]] = {}
    for node in unit.nodes(ast.Attribute):
        if not isinstance(node.ctx, ast.Load):
            found.setdefault(node.attr, []).append(node)
    return found


def _texts(unit: Unit) -> dict[str, list[ast.Constant]]:
    """The texts, by what follows their last dot."""
    found: dict[str, list[ast.Constant]] = {}
    for node in unit.nodes(ast.Constant):
        if isinstance(node.value, str):
            found.setdefault(node.value.rpartition(".")[2], []).append(node)
    return found


def texts_and_imports(unit: Unit) -> dict[str, list[ast.Constant | ast.alias]]:
    """The texts and the imported names, by what they are or are called from then on."""
    found: dict[str, list[ast.Constant | ast.alias]] = {}
    for node in unit.parents:
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                found.setdefault(node.value, []).append(node)
        elif isinstance(node, ast.alias):
            for name in {node.name, node.asname or node.name}:
                found.setdefault(name, []).append(node)
    return found


#: One of these stands in a file in which names are put together.
LOOKING_UP = ("getattr", "globals", "locals", "vars")


def names_put_together(unit: Unit) -> list[tuple[ast.AST, str, str]]:
    """Where names are put together to reach functions by them, and how such names begin and end.

    ``getattr(self, "loss_" + kind)``, ``globals()["loss_%s" % kind]``; also ``__getattr__``, which
    hands on whatever it is asked for.
    """
    found: list[tuple[ast.AST, str, str]] = []
    for hook in unit.nodes(ast.FunctionDef):
        if hook.name in ("__getattr__", "__getattribute__"):
            looked_up = (n for n in walk(hook) if isinstance(n, ast.Call))
            if any(path_of(n.func) == ("getattr",) for n in looked_up):
                found.append((hook, "", ""))
    for node in (*unit.nodes(ast.Call), *unit.nodes(ast.Subscript)):
        name: ast.expr | None = None
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call):
            if path_of(node.value.func) in (("globals",), ("locals",), ("vars",)):
                name = node.slice
        elif isinstance(node, ast.Call) and path_of(node.func) == ("getattr",):
            name = node.args[1] if len(node.args) > 1 else None
        start, end = _ends(name) if name is not None else ("", "")
        if start or end:
            found.append((node, start, end))
    return found


def _ends(name: ast.expr) -> tuple[str, str]:
    """How a text that is put together of others begins and ends, as far as it can be told."""
    if isinstance(name, ast.BinOp) and isinstance(name.op, ast.Add):
        return _text(name.left) or _ends(name.left)[0], _text(name.right) or _ends(name.right)[1]
    if isinstance(name, ast.JoinedStr) and name.values:
        return _text(name.values[0]), _text(name.values[-1])
    shape = ""
    if isinstance(name, ast.BinOp) and isinstance(name.op, ast.Mod):
        shape = _text(name.left)
    elif isinstance(name, ast.Call) and isinstance(name.func, ast.Attribute):
        shape = _text(name.func.value) if name.func.attr == "format" else ""
    start, hole, end = re.sub(r"%[-+ #0-9.]*\w|\{[^}]*\}", "\0", shape).partition("\0")
    return (start, end.rpartition("\0")[2]) if hole else ("", "")


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _is_exported(unit: Unit, node: ast.AST) -> bool:
    """Whether the text stands in ``__all__``: callers out of sight may import what it names."""
    parent = unit.parents[node]
    if isinstance(parent, ast.List | ast.Tuple):
        parent = unit.parents[parent]
    if isinstance(parent, ast.Assign | ast.AugAssign):
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        return any(isinstance(t, ast.Name) and t.id == "__all__" for t in targets)
    return False


def _is_no_name(parent: ast.AST, node: ast.AST) -> bool:
    """A documentation, or the name of a scope: ``tf.name_scope("penalty")``, ``name="penalty"``."""
    if isinstance(parent, ast.Expr):
        return True
    if isinstance(parent, ast.keyword):
        return parent.arg in ("name", "scope", "default_name", "family")
    if not isinstance(parent, ast.Call) or node not in parent.args:
        return False
    path = path_of(parent.func)
    last = path[-1].lstrip(".") if path else ""
    return last.endswith(_NAMED)


def place_of(home: Unit, unit: Unit, node: ast.AST) -> str:
    """Where ``node`` stands, told in ``home``."""
    line = f"line {getattr(node, 'lineno', 0)}"
    return line if unit is home else f"{unit.filename}, {line}"


class Resolver:
    """Whether a name, at some place, means one function."""

    def __init__(self, project: Project, unit: Unit, function: ast.FunctionDef) -> None:
        self._project = project
        self._unit = unit
        self._function = function
        self._classes = classes(project)
        holder = unit.parents.get(function)
        self._cls = holder if isinstance(holder, ast.ClassDef) else None
        self._enclosing = self._enclosing_function()

    def _enclosing_function(self) -> Function | None:
        node = self._unit.parents.get(self._function)
        while node is not None:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                return node
            node = self._unit.parents.get(node)
        return None

    def problem(self) -> str:
        """What makes the function one of several of its name."""
        name = self._function.name
        if self._cls is None:
            holder = self._enclosing or self._unit.tree
            same = [
                n
                for n in walk(holder)
                if isinstance(n, ast.FunctionDef)
                and n.name == name
                and self._project.scope_of(self._unit, n) is holder
                and not isinstance(self._unit.parents.get(n), ast.ClassDef)
            ]
            return f"`{name}` is defined more than once" if len(same) > 1 else ""
        return ""

    def overridden(self) -> str:
        """Which other class has a method that may be run in place of this one, or this of that."""
        name = self._function.name
        if self._cls is None:
            return ""
        for cls in self._project.family(self._unit, self._cls):
            for stmt in cls.body:
                if isinstance(stmt, ast.FunctionDef) and stmt.name == name:
                    if stmt is not self._function:
                        return f"`{name}` is overridden in another class"
        related = {*self._classes.extending(self._cls.name), *self._classes.above(self._cls.name)}
        for each in sorted(related):
            for unit, cls in self._classes.named(each):
                if any(isinstance(n, ast.FunctionDef) and n.name == name for n in cls.body):
                    where = "another class" if unit is self._unit else unit.filename
                    return f"`{name}` is overridden in {where}"
        return ""

    def is_called_from_outside(self) -> bool:
        """Whether a library may call the method, whose class extends one of that library."""
        if self._cls is None:
            return False
        known = {c.name for c in self._project.family(self._unit, self._cls)}
        for cls in self._project.effects(self._unit).lineage(self._cls):
            for base in cls.bases:
                path = path_of(base)
                last = path[-1].lstrip(".") if path else ""
                if last not in known and last not in PLAIN_BASES:
                    return True
        return False

    def means(self, unit: Unit, node: ast.AST) -> bool | None:
        """None: it cannot be told."""
        key = (self._function, node)
        if key not in self._project.meanings:
            meant = self._means(unit, node)
            call = unit.parents.get(node)
            if meant is None and isinstance(call, ast.Call) and call.func is node:
                meant = None if self._takes(call) else False
            self._project.meanings[key] = meant
        return self._project.meanings[key]

    def _takes(self, call: ast.Call) -> bool:
        """Whether the function can be called with these arguments, ``self`` perhaps among them."""
        args = self._function.args
        known = [a.arg for a in (*args.posonlyargs, *args.args)]
        keywords = {k.arg for k in call.keywords}
        if args.kwarg is None and not keywords <= {*known, *(a.arg for a in args.kwonlyargs), None}:
            return False
        if None in keywords or any(isinstance(a, ast.Starred) for a in call.args):
            return True
        needed = known[: len(known) - len(args.defaults)]
        return any(
            (args.vararg is not None or count <= len(known)) and set(needed[count:]) <= keywords
            for count in {len(call.args), len(call.args) + (self._cls is not None)}
        )

    def _means(self, unit: Unit, node: ast.AST) -> bool | None:
        if isinstance(node, ast.Name):
            return self._name(unit, node)
        if isinstance(node, ast.Attribute):
            return self._attribute(unit, node)
        return False

    def _name(self, unit: Unit, node: ast.Name) -> bool | None:
        if self._cls is not None:
            return False
        if self._enclosing is not None:
            return unit is self._unit and _is_inside(unit, node, self._enclosing)
        path = unit.names.qualified(node)
        if unit is self._unit:
            return path is None
        if unit.names.reference_kind(node) == "either":
            return None
        if path is not None:
            return self.is_path(unit, path)
        if any(isinstance(n, ast.FunctionDef) and n.name == node.id for n in unit.tree.body):
            return False
        stars = {
            self.is_path(unit, import_path(n, node.id))
            for n in unit.tree.body
            if isinstance(n, ast.ImportFrom) and n.names[0].name == "*"
        }
        return True if True in stars else None if None in stars else False

    def is_path(self, user: Unit, path: str) -> bool | None:
        """Whether an import path ends in this file's module, or its package's, and this name."""
        if self._cls is not None:
            return path.endswith(f"{self._cls.name}.{self._function.name}")
        return leads_to(self._project, path, user, self._unit, self._function.name)

    def _attribute(self, unit: Unit, node: ast.Attribute) -> bool | None:
        path = unit.names.qualified(node)
        if path is not None and self._cls is None:
            either = unit.names.reference_kind(node) == "either"
            return None if either else self.is_path(unit, path)
        if self._cls is None or self._enclosing is not None:
            return False
        if path is not None or isinstance(node.value, ast.Name):
            # ``Base.method(self, x)``
            named = self._classes.named(path.split(".")[-2] if path else _last(node.value))
            verdicts = {self._class(unit, node.value, home, cls) for home, cls in named}
            if True in verdicts and self._function.decorator_list:
                return None
            if verdicts or path is not None:
                return verdicts.pop() if len(verdicts) == 1 else None if verdicts else False
        owner = self._project.class_of(unit, self._project.scope_of(unit, node))
        if owner is not None and _is_self(node.value):
            return self._own(unit, owner, isinstance(node.value, ast.Call))
        made = constructors(unit, node.value)
        if made is None:
            return None
        found = {self._instance(unit, maker) for maker in made}
        return found.pop() if len(found) == 1 else None

    def _own(self, unit: Unit, owner: ast.ClassDef, above: bool) -> bool | None:
        """A method of ``owner`` called on ``self``, or on ``super()``: ``above``."""
        assert self._cls is not None
        if above and owner is self._cls:
            return False
        method = self._project.effects(unit).method(owner, self._function.name)
        if method is self._function:
            return True
        if not above and self._cls.name in self._classes.extending(owner.name):
            return None
        if method is not None and not above:
            return False
        if owner.name in self._classes.extending(self._cls.name):
            return descends(self._project, unit, owner, self._unit, self._cls) or None
        return None if self._classes.has_unseen_bases(unit, owner) else False

    def _instance(self, unit: Unit, maker: ast.expr) -> bool | None:
        """A method called on an object of the class that ``maker`` names in ``unit``."""
        assert self._cls is not None
        qualified = unit.names.qualified(maker)
        name = _last(maker) if qualified is None else qualified.split(".")[-1]
        found = self._classes.named(name)
        own = [each for each in found if each[0] is unit] if qualified is None else []
        if not found:
            return False if is_of_library(qualified) else None
        verdicts = {self._class(unit, maker, home, cls) for home, cls in own or found}
        return verdicts.pop() if len(verdicts) == 1 else None

    def _class(self, unit: Unit, node: ast.expr, home: Unit, cls: ast.ClassDef) -> bool | None:
        """Whether the method is the one of ``cls``, if ``node`` in ``unit`` means that class."""
        meant = means_class(self._project, unit, node, home, cls)
        return self._is_one(home, cls) if meant else None

    def _is_one(self, home: Unit, cls: ast.ClassDef) -> bool | None:
        assert self._cls is not None
        if cls is self._cls:
            return True
        if cls.name in self._classes.extending(self._cls.name):
            return descends(self._project, home, cls, self._unit, self._cls) or None
        if self._project.effects(home).method(cls, self._function.name) is not None:
            return False
        return None if self._classes.has_unseen_bases(home, cls) else False


def anchors(
    project: Project, unit: Unit, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> frozenset[str]:
    """The names one of which a file has to hold in order to call ``function``."""
    cls = project.class_of(unit, function)
    *folders, module = steps_of(unit.filename)
    own = cls is None or function.name == "__init__"
    # A package that hands the name on may lie above.
    above = folders[-MOST_PACKAGES:]
    found = {module, *above} if own or cls is None else {cls.name}
    return frozenset(found - {"", "__init__"})


def named_mentions(
    project: Project, unit: Unit, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> Mentions:
    """Where the name of ``function`` means it, or may, and no other one."""
    found = project.mentions(function.name)
    if isinstance(function, ast.AsyncFunctionDef):
        return found
    meant = Resolver(project, unit, function).means
    return Mentions(
        [c for c in found.calls if meant(c.unit, c.call.func) is not False],
        [(u, n) for u, n in found.others if meant(u, n) is not False],
    )


def is_called_from_outside(project: Project, unit: Unit, function: ast.FunctionDef) -> bool:
    """Whether a library may call the method, whose class extends one of that library."""
    return Resolver(project, unit, function).is_called_from_outside()


def _is_self(node: ast.expr) -> bool:
    if isinstance(node, ast.Name):
        return node.id in ("self", "cls")
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
    )


def constructors(unit: Unit, owner: ast.expr) -> list[ast.expr] | None:
    """What the file calls to make what ``owner`` names, if that is classes; None if it is not."""
    if isinstance(owner, ast.Call):
        return [owner.func] if _last(owner.func)[:1].isupper() else None
    wanted = path_of(owner)
    if wanted is None:
        return None
    found: list[ast.expr] = []
    for value in unit.once(_assigned).get(wanted, ()):
        if not isinstance(value, ast.Call) or not _last(value.func)[:1].isupper():
            return None
        found.append(value.func)
    return found or None


def _assigned(unit: Unit) -> dict[Path, list[ast.expr]]:
    """What is assigned in the file, by the names and attributes that it is assigned to."""
    found: dict[Path, list[ast.expr]] = {}
    for node in unit.nodes(ast.Assign):
        for path in dict.fromkeys(map(path_of, node.targets)):
            if path is not None:
                found.setdefault(path, []).append(node.value)
    return found


def _last(node: ast.expr) -> str:
    path = path_of(node)
    return path[-1].lstrip(".") if path else ""


def _is_inside(unit: Unit, node: ast.AST | None, root: ast.AST) -> bool:
    while node is not None and node is not root:
        node = unit.parents.get(node)
    return node is root
