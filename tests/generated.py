"""Random TF1 programs: straight lines, loops, branches, helpers, methods, containers, rebinding.

Every tensor is a vector of three numbers, so that any two can be combined. The writer keeps track
of what each name holds, so that the programs it writes run in a v1 graph; what the tool makes of
them is for the tests to see.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

HEADER = """\
import numpy as np
import {tensorflow} as tf

rng = np.random.RandomState(3)
A = rng.rand(3).astype("float32")
B = rng.rand(3).astype("float32")
FLAG = {flag}
"""
INPUTS = 'INPUTS = {"x": rng.rand(3).astype("float32"), "t": rng.rand(3).astype("float32")}\n'
UNARY = (
    "tf.sin({})",
    "tf.tanh({})",
    "tf.square({})",
    "{} * {}",
    "0.5 * {}",
    "tf.exp(0.3 * {})",
    "tf.identity({})",
    "tf.nn.relu({} - 0.2)",
    "tf.reverse({}, [0])",
    "tf.cumsum({})",
)
BINARY = ("{} + {}", "{} * {}", "{} - 0.5 * {}", "tf.maximum({}, {})", "{} * A + {} * B")
RARE = ("tf.stop_gradient({})", "tf.cast({} > 0.5, tf.float32)", "tf.round({})")


@dataclass
class Value:
    """What a name holds: which inputs it was computed from, so that gradients exist."""

    ancestors: frozenset[int]
    number: int


@dataclass
class Writer:
    """Writes one program. ``names`` are the tensors in scope."""

    draw: st.DrawFn
    lines: list[str] = field(default_factory=list)
    names: dict[str, Value] = field(default_factory=dict)
    results: list[str] = field(default_factory=list)
    helpers: list[str] = field(default_factory=list)
    methods: list[str] = field(default_factory=list)
    attributes: bool = False
    owned: bool = False
    v1: bool = False
    handing: bool = False
    counter: int = 0
    depth: int = 1

    def pick(self, *choices: str) -> str:
        return self.draw(st.sampled_from(choices))

    def name(self, but: str = "") -> str:
        known = [name for name in self.names if name != but]
        # Later names more often: programs are chains rather than stars.
        return self.draw(st.sampled_from(known + known[-3:] * 2))

    def fresh(self, stem: str) -> str:
        self.counter += 1
        return f"{stem}{self.counter}"

    def write(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def bind(self, name: str, *origins: str, cut: bool = False) -> None:
        self.counter += 1
        found = (
            frozenset[int]()
            if cut
            else frozenset[int]().union(*(self.names[each].ancestors for each in origins))
        )
        self.names[name] = Value(found | {self.counter}, self.counter)

    def expression(self) -> tuple[str, list[str], bool]:
        """An expression, the names in it, and whether it has no gradient."""
        kind = self.draw(st.integers(0, 11))
        one, two = self.name(), self.name()
        if kind < 5:
            form = self.pick(*UNARY)
            return form.format(*[one] * form.count("{}")), [one], False
        if kind < 10 or not self.helpers:
            form = self.pick(*BINARY)
            return form.format(one, two), [one, two], False
        if kind == 10:
            return f"{self.pick(*self.helpers)}({one}, {two})", [one, two], False
        return self.pick(*RARE).format(one), [one], True

    def assign(self) -> None:
        text, origins, cut = self.expression()
        rebinds = self.draw(st.integers(0, 3)) == 0
        target = self.name() if rebinds else self.fresh("v")
        self.write(f"{target} = {text}")
        self.bind(target, *origins, cut=cut)

    def augment(self) -> None:
        target = self.name()
        other = self.name()
        self.write(f"{target} {self.pick('+=', '*=', '-=')} {other}")
        self.bind(target, target, other)

    def unpack(self) -> None:
        one, two = self.fresh("p"), self.fresh("p")
        (first, origins, cut), (second, others, also) = self.expression(), self.expression()
        self.write(f"{one}, {two} = {first}, {second}")
        self.bind(one, *origins, cut=cut)
        self.bind(two, *others, cut=also)

    def container(self) -> None:
        kind = self.pick("list", "dict", "loop")
        one, two = self.name(), self.name()
        box, target = self.fresh("box"), self.fresh("v")
        if kind == "list":
            self.write(f"{box} = [{one}]")
            self.write(f"{box}.append(tf.sin({two}))")
            self.write(f"{target} = tf.add_n({box})")
        elif kind == "dict":
            self.write(f"{box} = {{'a': {one}}}")
            self.write(f"{box}['b'] = tf.cos({two})")
            self.write(f"{target} = {box}['a'] * {box}['b']")
        else:
            self.write(f"{box} = [tf.sin(k * {one}) + {two} for k in (1.0, 2.0)]")
            self.write(f"{target} = {box}[0] * {box}[1]")
        self.bind(target, one, two)

    def function(self) -> None:
        kind = self.pick("lambda", "def")
        free, argument = self.name(), self.name()
        name, target = self.fresh("f"), self.fresh("v")
        if kind == "lambda":
            self.write(f"{name} = lambda q: tf.sin(q) * {free}")
        else:
            self.write(f"def {name}(q):")
            self.write(f"    r = q * {free}")
            self.write("    return r + tf.tanh(r)")
        self.write(f"{target} = {name}({argument})")
        self.bind(target, free, argument)

    def branch(self) -> None:
        target = self.name()
        (first, one, _), (second, two, _) = self.expression(), self.expression()
        self.write("if FLAG:")
        self.write(f"    {target} = {first}")
        if self.draw(st.booleans()):
            self.write("else:")
            self.write(f"    {target} = {second}")
        else:
            two = []
        # What runs on one path only is not known to be an ancestor: sources are those on both.
        both = [self.names[each].ancestors for each in [*one, *two, target]]
        self.bind(target)
        known = frozenset.intersection(*both) if both else frozenset()
        self.names[target] = Value(known | self.names[target].ancestors, self.names[target].number)

    def loop(self) -> None:
        carried, other = self.name(), self.name()
        self.write(f"for k in range({self.pick('1', '2', '3')}):")
        self.depth += 1
        self.write(f"{carried} = tf.sin({carried}) * {other} + 0.1 * k")
        self.bind(carried, carried, other)
        if self.draw(st.booleans()):
            self.gradient(stored=False)
        self.depth -= 1

    def scope(self) -> None:
        self.write(f"with tf.name_scope('s{self.counter}'):")
        self.depth += 1
        for _ in range(self.draw(st.integers(1, 2))):
            self.assign()
        if self.draw(st.booleans()):
            self.gradient()
        self.depth -= 1

    def gradient(self, stored: bool = True) -> None:
        """A gradient call of some form; its first result gets a name, if ``stored``."""
        target = self.name()
        sources = self.sources_of(target)
        source = self.draw(st.sampled_from(sources))
        other = self.draw(st.sampled_from(sources))
        ys, arguments = self._target(target), self._arguments(target)
        one, two = self.fresh("g"), self.fresh("g")
        zero = ", unconnected_gradients='zero'"
        if "unconnected" in arguments:
            zero = ""
        form = self.pick("first", "first", "list", "unpack", "star", "zip")
        if form == "first":
            self.write(f"{one} = tf.gradients({ys}, {source}{arguments}{zero})[0]")
        elif form == "list":
            self.write(f"{one} = tf.gradients({ys}, [{source}]{arguments}{zero})")
            self.write(f"{one} = {one}[0]")
        elif form == "unpack":
            self.write(f"{one}, {two} = tf.gradients({ys}, [{source}, {other}]{arguments}{zero})")
        elif form == "star":
            self.write(f"{one}, = tf.gradients({ys}, {source}{arguments}{zero})")
        else:
            pairs = self.fresh("pairs")
            call = f"tf.gradients({ys}, [{source}, {other}]{arguments}{zero})"
            self.write(f"{pairs} = dict(zip('ab', {call}))")
            self.write(f"{one} = {pairs}['a']")
        if stored:
            self.results.append(one)
            self.bind(one, target, source)
            if form == "unpack":
                # Returned only: results of one call may be one tensor under two names, as those
                # of a sum are, and then a derivative by one is a derivative by both.
                self.results.append(two)
        elif self.draw(st.booleans()):
            self.write(f"{source} = {source} - 0.1 * {one}")
            self.bind(source, source, target)

    def _target(self, target: str) -> str:
        form = self.draw(st.integers(0, 7))
        if form == 0:
            return f"tf.reduce_sum({target})"
        if form == 1:
            return f"{target} * 2.0"
        if form == 2:
            return f"[{target}, tf.sin({target})]"
        if form == 3:
            return f"{target}[1]"
        return target

    def _arguments(self, target: str) -> str:
        form = self.draw(st.integers(0, 18))
        if form == 16 and self.v1:
            return ", colocate_gradients_with_ops=True"
        if form == 17:
            return ", None, 'grads', False"
        if form == 18:
            return ", stop_gradients=({0}, {0})".format(self.name())
        if form == 0:
            return ", name='grads'"
        if form == 1:
            return ", gate_gradients=False"
        if form == 2:
            return ", aggregation_method=tf.AggregationMethod.ADD_N"
        if form == 3:
            return f", stop_gradients=[{self.name()}]"
        return ""

    def sources_of(self, target: str) -> list[str]:
        """The names from which ``target`` was computed."""
        ancestors = self.names[target].ancestors
        return [name for name, value in self.names.items() if value.number in ancestors]

    def swap(self) -> None:
        one, two = self.name(), self.name()
        self.write(f"{one}, {two} = {two}, {one}")
        self.names[one], self.names[two] = self.names[two], self.names[one]

    def chained(self) -> None:
        text, origins, cut = self.expression()
        one, two = self.fresh("c"), self.fresh("c")
        self.write(f"{one} = {two} = {text}")
        self.bind(one, *origins, cut=cut)
        self.names[two] = self.names[one]

    def walrus(self) -> None:
        one, two = self.fresh("w"), self.fresh("v")
        argument, other = self.name(), self.name()
        self.write(f"{two} = ({one} := tf.sin({argument})) * {other} + {one}")
        self.bind(one, argument)
        self.bind(two, one, other)

    def try_(self) -> None:
        target, other = self.name(), self.name()
        self.write("try:")
        self.write(f"    {target} = tf.sin({target}) * {other}")
        self.bind(target, target, other)
        self.depth += 1
        if self.draw(st.booleans()):
            self.gradient()
        self.depth -= 1
        self.write("finally:")
        self.write("    done = True")

    def rounds(self) -> None:
        carried, other = self.name(), self.name()
        count = self.fresh("n")
        self.write(f"{count} = 0")
        self.write("while True:")
        self.write(f"    {carried} = {carried} * 0.5 + tf.sin({other})")
        self.bind(carried, carried, other)
        self.depth += 1
        if self.draw(st.booleans()):
            self.gradient(stored=False)
        self.write(f"{count} += 1")
        self.write(f"if {count} == 2:")
        self.write("    break")
        self.depth -= 1

    def source_list(self) -> None:
        target = self.name()
        sources = self.sources_of(target)
        one, two = self.draw(st.sampled_from(sources)), self.draw(st.sampled_from(sources))
        box, name = self.fresh("xs"), self.fresh("g")
        zero = "unconnected_gradients='zero'"
        form = self.pick("list", "each", "dict")
        if form == "list":
            self.write(f"{box} = [{one}, {two}]")
            self.write(f"{name} = tf.gradients({target}, {box}, {zero})")
        elif form == "dict":
            self.write(f"{box} = {{'a': {one}, 'b': {two}}}")
            self.write(f"{name} = tf.gradients({target}, list({box}.values()), {zero})")
        else:
            self.write(f"{name} = [tf.gradients({target}, s, {zero})[0] for s in ({one}, {two})]")
        self.results.append(name)

    def inner_call(self) -> None:
        """A gradient call in a function of its own, over what it closes over and what it gets."""
        free, argument = self.name(), self.name()
        name, result = self.fresh("f"), self.fresh("g")
        wrt = self.pick("q", free)
        self.write(f"def {name}(q):")
        self.write(f"    y = tf.sin(q) * {free} + q")
        self.write(f"    return tf.gradients(y, {wrt}, unconnected_gradients='zero')[0]")
        self.write(f"{result} = {name}({argument})")
        self.results.append(result)
        self.bind(result, free, argument)

    def unconnected(self) -> None:
        """A call whose result may be None: returned, never computed with."""
        target, source = self.name(), self.name()
        name = self.fresh("n")
        self.write(f"{name} = tf.gradients({target}, [{source}])")
        self.results.append(name)

    def seeded(self) -> None:
        target = self.name()
        # The derivative of a tensor by itself is the seed, the very tensor: another name for it.
        number = self.names[target].number
        sources = [each for each in self.sources_of(target) if self.names[each].number != number]
        if not sources:
            return
        source, seed = self.draw(st.sampled_from(sources)), self.name()
        name = self.fresh("g")
        self.write(
            f"{name} = tf.gradients({target}, {source}, grad_ys={self.pick(seed, f'[{seed}]')}, "
            "unconnected_gradients='zero')[0]"
        )
        self.results.append(name)
        self.bind(name, target, source, seed)

    def orders(self) -> None:
        """Derivatives of derivatives, by one source or by two."""
        target = self.name()
        sources = self.sources_of(target)
        one, two = self.draw(st.sampled_from(sources)), self.draw(st.sampled_from(sources))
        zero = "unconnected_gradients='zero'"
        for order in range(self.draw(st.integers(2, 3))):
            name, source = self.fresh("d"), (one, two)[order % 2]
            self.write(f"{name} = tf.gradients({target}, {source}, {zero})[0]")
            self.results.append(name)
            self.bind(name, target, source)
            target = name

    def handed_on(self) -> None:
        """A gradient call in a helper that takes the target."""
        target, source = self._pair()
        name = self.fresh("g")
        form = self.pick(
            "slope({0}, {1})",
            "slope(y={0}, x={1})",
            "slope({0}, x={1})",
            "bend({0}, {1})",
            "pull({0}, {1})",
            "pull({0}, {1}, {2})",
            "deep({0}, {1})",
            "pair({0}, [{1}, {2}])[0]",
            "slope(tf.sin({0}), {1})",
            "slope(slope({0}, {1}), {1})",
        )
        other = self.name()
        self.handing = True
        self.write(f"{name} = {form.format(target, source, other)}")
        self.results.append(name)
        self.bind(name, target, source, *([other] if "{2}" in form else []))

    def kept(self) -> None:
        """A gradient call in a method, of what is kept on self."""
        target, source = self._pair()
        self.counter += 1
        number = self.counter
        method, result = self.fresh("m"), self.fresh("g")
        self.write(f"self.k{number} = {target}")
        call = "tf.gradients(self.k{}, {}, unconnected_gradients='zero')[0]"
        form = self.pick("self", "given", "both")
        if form == "self":
            self.write(f"self.s{number} = {source}")
            arguments, passed, by = "self", "", f"self.s{number}"
        else:
            arguments, passed, by = "self, s", source, "s"
        body = [f"def {method}({arguments}):"]
        if form == "both":
            body.append(f"    first = {call.format(number, by)}")
            body.append(
                "    return tf.gradients(first, s, unconnected_gradients='zero')[0] + first"
            )
        else:
            body.append(f"    return {call.format(number, by)}")
        self.methods.append("\n".join(f"    {line}" for line in body))
        self.write(f"{result} = self.{method}({passed})")
        self.results.append(result)
        self.bind(result, target, source)

    def _pair(self) -> tuple[str, str]:
        target = self.name()
        return target, self.draw(st.sampled_from(self.sources_of(target)))

    def hessian(self) -> None:
        target = self.name()
        sources = self.sources_of(target)
        source = self.draw(st.sampled_from(sources))
        name = self.fresh("h")
        self.write(f"{name} = tf.hessians(tf.reduce_sum({target} ** 3), {source})")
        self.results.append(name)

    def statement(self) -> None:
        """Any statement."""
        kinds = [self.assign] * 5 + [self.gradient] * 5
        kinds += [self.augment, self.unpack, self.container, self.function, self.branch]
        kinds += [self.loop, self.scope, self.unconnected, self.seeded, self.hessian]
        kinds += [self.swap, self.chained, self.try_, self.rounds, self.source_list]
        kinds += [self.inner_call, self.orders, self.handed_on, self.handed_on]
        kinds += [] if self.attributes else [self.walrus]
        kinds += [self.kept, self.kept] if self.owned else []
        self.draw(st.sampled_from(kinds))()


HELPERS = {
    "net": "def net(a, b):\n    h = tf.tanh(a * b)\n    return h + a\n",
    "mix": (
        "def mix(a, b):\n    total = a\n    for k in range(2):\n        total = total * b + k\n"
        "    return total\n"
    ),
    "own": (
        "def own(a, b):\n    y = tf.sin(a) * b\n    slope = tf.gradients(y, a)[0]\n"
        "    return y + slope\n"
    ),
}
# Gradient calls whose target comes in from outside.
HANDED_ON = """\
def slope(y, x):
    return tf.gradients(y, x, unconnected_gradients='zero')[0]


def bend(y, x):
    first = tf.gradients(y, x, unconnected_gradients='zero')[0]
    return tf.gradients(first, x, unconnected_gradients='zero')[0]


def pull(y, x, scale=2.0):
    z = tf.square(y) * scale
    return tf.gradients(z, [x], unconnected_gradients='zero')[0] + y


def pair(y, xs):
    return tf.gradients(y, xs, unconnected_gradients='zero')


def deep(y, x):
    return slope(tf.tanh(y), x) * y
"""

# Shows that the two inputs have nothing to do with each other.
ENTRY = """\
def run():
    x = tf.constant(A * 0.7)
    t = tf.constant(B + 0.1)
    return {}(x, t)
"""


@st.composite
def programs(draw: st.DrawFn) -> str:
    """The text of a program with ``INPUTS`` and ``run``."""
    used = draw(st.lists(st.sampled_from(sorted(HELPERS)), unique=True))
    writer = Writer(draw, helpers=list(used), v1=draw(st.booleans()))
    shape = draw(st.sampled_from(("function", "function", "method", "class", "variable")))
    for name in ("x", "t"):
        writer.counter += 1
        writer.names[name] = Value(frozenset({writer.counter}), writer.counter)
    writer.owned = shape in ("method", "class")
    if shape == "method":
        writer.depth = 2
    if shape == "variable":
        writer.write('w = tf.get_variable("w", initializer=A)')
        writer.bind("w")
    if shape == "class":
        # The same program on attributes: names become paths.
        writer.names = {"self.x": writer.names["x"], "self.t": writer.names["t"]}
        writer.depth = 2
        writer.attributes = True
        writer.write("self.x, self.t = x, t")
    for _ in range(draw(st.integers(2, 8))):
        writer.statement()
    writer.gradient()
    last = writer.name()
    writer.write(f"return [{', '.join([*writer.results, last])}]")
    module = "tensorflow.compat.v1" if writer.v1 else "tensorflow"
    parts = [
        HEADER.format(tensorflow=module, flag=draw(st.booleans())),
        *(HELPERS[name] for name in used),
    ]
    parts += [HANDED_ON] if writer.handing else []
    body = "\n".join(writer.lines) + "\n"
    # What is called from outside has inputs of which nothing is known.
    closed = draw(st.booleans())
    parts[0] += "INPUTS = {}\n" if closed else INPUTS
    name = "step" if closed else "run"
    if shape in ("method", "class"):
        body = "\n\n".join([f"    def compute(self, x, t):\n{body}", *writer.methods])
        parts.append(f"class Model:\n{body}\n")
        parts.append(f"def {name}(x, t):\n    return Model().compute(x, t)\n")
    else:
        parts.append(f"def {name}(x, t):\n{body}")
    if closed:
        parts.append(ENTRY.format(name))
    return "\n\n".join(parts)


TFE_IMPORTS = (
    "import tensorflow as tf\nimport tensorflow.contrib.eager as tfe\n",
    "import tensorflow as tf\nfrom tensorflow.contrib import eager as tfe\n",
    "import tensorflow as tf\ntfe = tf.contrib.eager\n",
    "import tensorflow as tf\nfrom tensorflow.contrib.eager.python import tfe\n",
)
TFE_HEADER = """\
import functools
import numpy as np

rng = np.random.RandomState(5)
INPUTS = {{"x": rng.rand(3).astype("float32"), "y": rng.rand(3).astype("float32")}}
w = tfe.Variable(rng.rand(3).astype("float32"), name="w")
b = tfe.Variable(2.0, name="b"{frozen})
"""
TFE_BODIES = (
    "x * x * y",
    "tf.sin(x) * y + x",
    "w * x + b * y",
    "tf.reduce_sum(w * tf.tanh(x)) * y",
    "[x * y, tf.sin(y)]",
    "tf.exp(0.1 * x) + tf.stop_gradient(y) * y",
    "x * 2.0",
)
TFE_LOSSES = (
    "tf.reduce_sum(w * x) + b * b",
    "tf.reduce_sum(tf.square(w * x - b))",
    "b * tf.reduce_sum(x)",
    "tf.reduce_sum(w) * b + 0.0 * tf.reduce_sum(x)",
)
TFE_PARAMS = ("", "", ", params=[0]", ", params=['x']", ", params=['y', 'x']", ", params=[1, 0]")


@st.composite
def tfe_programs(draw: st.DrawFn) -> str:
    """The text of a program with gradient functions of ``tf.contrib.eager``."""

    def pick(*choices: str) -> str:
        return draw(st.sampled_from(choices))

    parts = [pick(*TFE_IMPORTS) + TFE_HEADER.format(frozen=pick("", "", ", trainable=False"))]
    body: list[str] = []
    results: list[str] = []
    for number in range(draw(st.integers(1, 3))):
        f, g, r = f"f{number}", f"grad{number}", f"r{number}"
        results.append(r)
        api = pick("gradients_function", "gradients_function", "value_and_gradients_function")
        params = pick(*TFE_PARAMS)
        forward = pick(*TFE_BODIES)
        form = draw(st.integers(0, 11))
        if form < 8:
            parts.append(f"def {f}(x, y):\n    return {forward}\n")
        if form == 0:
            parts.append(f"{g} = tfe.{api}({f}{params})\n")
            body.append(f"{r} = {g}(x, y)")
        elif form == 1:
            body.append(f"{r} = tfe.{api}({f}{params})(x, y)")
        elif form == 2:
            body += [f"{g} = tfe.{api}({f}{params})", f"{r} = [{g}(x, y), {g}(y, x)]"]
        elif form == 3:
            body += [f"{r} = []", "for k in (1.0, 2.0):"]
            body.append(f"    {r}.append(tfe.{api}({f}{params})(k * x, y))")
        elif form == 4:
            parts.append(f"{g} = tfe.gradients_function({f}{params})\n")
            body.append(f"{r} = {g}(x, y, dy={pick('x', '2.0 * y', 'tf.ones_like(x)')})")
            if forward.startswith("["):
                body[-1] = f"{r} = {g}(x, y)"
        elif form == 5:
            parts.append(f"{g} = tfe.gradients_function({f})\n")
            second = pick(f"{g}(x, 2.0 * x)[0]", f"tf.reduce_sum({g}(x, 3.0)[0])")
            body.append(f"{r} = tfe.gradients_function(lambda x: {second})(y)")
        elif form == 6:
            body += [f"value, vjp = tfe.make_vjp({f}{params})(x, y)"]
            seed = "[x, y]" if forward.startswith("[") else "x * y"
            body.append(f"{r} = vjp({seed})")
        elif form == 7:
            body.append(f"{g} = {{'a': tfe.{api}({f}{params}), 'b': {f}}}")
            body.append(f"{r} = {g}['a'](x, y)")
        elif form == 8:
            parts.append(f"@tfe.{api}\ndef {g}(x, y):\n    return {forward}\n")
            body.append(f"{r} = {g}(x, y)")
        elif form == 9:
            body.append(f"{r} = tfe.{api}(lambda x, y: {forward}{params})(x, y)")
        else:
            loss = pick(*TFE_LOSSES)
            parts.append(f"def {f}(x):\n    return {loss}\n")
            implicit = pick("implicit_gradients", "implicit_value_and_gradients")
            where = pick("module", "function", "spot")
            if where == "module":
                parts.append(f"{g} = tfe.{implicit}({f})\n")
                call = f"{g}(x)"
            elif where == "function":
                body.append(f"{g} = tfe.{implicit}({f})")
                call = f"{g}(x)"
            else:
                call = f"tfe.{implicit}({f})(x)"
            pairs = call if implicit == "implicit_gradients" else f"{call}[1]"
            body.append(f"{r} = [(gradient, v.name) for gradient, v in {pairs}]")
    body.append(f"return [{', '.join(results)}]")
    parts.append("def run(x, y):\n" + "".join(f"    {line}\n" for line in body))
    return "\n\n".join(parts)
