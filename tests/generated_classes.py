"""Random TF1 programs of one class, which makes, keeps and differentiates tensors in its methods.

A value is kept as an attribute, in a list, in a dict of the object or of the module, on an object
that the object holds, or behind a property; it is handed on as an argument, or given back. Every
tensor has two numbers. The same number gives the same program.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

HEADER = """\
import tensorflow as tf

INPUTS = {}
SHARED = {}


def same(a):
    return a


def mix(a, b):
    return a * b + tf.sin(b)


class Box(object):
    pass


class Layer(object):
    def __call__(self, a):
        self.out = tf.tanh(0.7 * a)
        return self.out
"""
ALIASES = ("{}", "same({})", "[{}][0]", "tf.identity({})", "tf.convert_to_tensor({})")
UNARY = ("tf.sin({})", "0.5 * {0} * {0}", "self.layer({})", "(lambda q: tf.sin(q))({})")
BINARY = ("{} * {}", "{} + tf.sin({})", "mix({}, {})", "self.both({}, {})")
# How values are kept: each program prefers some.
WAYS = ("attribute", "list", "dict", "box", "shared", "property", "setattr", "chained")


@dataclass(eq=False)
class _Value:
    name: str
    behind: frozenset[str]
    kept: str = ""
    place: int = 0


@dataclass
class _Step:
    made: list[_Value]
    used: list[_Value]
    text: str


@dataclass
class _Writer:
    random: random.Random
    values: list[_Value] = field(default_factory=list)
    results: list[_Value] = field(default_factory=list)
    methods: list[str] = field(default_factory=list)
    listed: int = 0

    def value(self, *of: _Value) -> _Value:
        name = f"v{len(self.values)}"
        made = _Value(name, frozenset({name}).union(*(each.behind for each in of)))
        self.values.append(made)
        return made

    def pick(self) -> _Value:
        return self.random.choice(self.values[-4:] if self.random.random() < 0.6 else self.values)

    def step(self) -> _Step:
        one, other, chance = self.pick(), self.pick(), self.random.random()
        if chance < 0.15:
            return _Step([self.value(one)], [one], self.random.choice(ALIASES))
        if chance < 0.4:
            return _Step([self.value(one)], [one], self.random.choice(UNARY))
        if chance < 0.7:
            return _Step([self.value(one, other)], [one, other], self.random.choice(BINARY))
        return self.gradient(one)

    def gradient(self, target: _Value) -> _Step:
        known = [v for v in self.values if v.name in target.behind and v is not target]
        known = known or [target]
        sources = [self.random.choice(known) for _ in range(self.random.choice((1, 1, 2)))]
        made = [self.value(target, *sources) for _ in sources]
        self.results += made
        listed = ", ".join("{}" for _ in sources)
        zero = self.random.choice(("", *[", unconnected_gradients='zero'"] * 5))
        return _Step(made, [target, *sources], f"tf.gradients({{}}, [{listed}]{zero})")

    def keep(self, value: _Value, ways: list[str]) -> list[str]:
        """The statements that keep a value which has a name there."""
        value.kept, name = self.random.choice(ways), value.name
        match value.kept:
            case "list":
                value.place, self.listed = self.listed, self.listed + 1
                return [self.random.choice((f"self.hs.append({name})", f"self.hs += [{name}]"))]
            case "dict":
                return [f"self.d['{name}'] = {name}"]
            case "box":
                return [f"self.box.{name} = {name}"]
            case "shared":
                return [f"SHARED['{name}'] = {name}"]
            case "property":
                self.methods.append(f"@property\ndef {name}(self):\n    return self._{name}")
                return [f"self._{name} = {name}"]
            case "setattr":
                return [f"setattr(self, '{name}', {name})"]
            case "chained":
                return [f"self.{name} = self.again_{name} = {name}"]
        return [f"self.{name} = {name}"]

    def read(self, value: _Value) -> str:
        """What a kept value is called where it has no name."""
        match value.kept:
            case "list":
                return f"self.hs[{value.place}]"
            case "dict":
                return f"self.d['{value.name}']"
            case "box":
                return f"self.box.{value.name}"
            case "shared":
                return f"SHARED['{value.name}']"
        return f"self.{value.name}"

    def stage(self, steps: list[_Step], here: set[_Value], ways: list[str]) -> list[str]:
        """The body of one method: its steps, some of them in methods of their own."""
        lines: list[str] = []
        while steps:
            size = self.random.randint(1, 3)
            some, steps = steps[:size], steps[size:]
            if self.random.random() < 0.5:
                lines += self.steps(some, here, ways)
                continue
            used = [v for step in some for v in step.used if v in here]
            passed = [v for v in dict.fromkeys(used) if not v.kept or self.random.random() < 0.4]
            names = ", ".join(v.name for v in passed)
            name = f"step{len(self.methods)}"
            self.methods.append("")  # its number is taken
            place = len(self.methods) - 1
            inner = set(passed)
            body = self.steps(some, inner, ways)
            given = [v for step in some for v in step.made if self.random.random() < 0.4]
            if given:
                body.append("return " + ", ".join(v.name for v in given))
            self.methods[place] = _method(name, ["self", *(v.name for v in passed)], body)
            call = f"self.{name}({names})"
            lines.append(", ".join(v.name for v in given) + f" = {call}" if given else call)
            here |= set(given)
        return lines

    def steps(self, steps: list[_Step], here: set[_Value], ways: list[str]) -> list[str]:
        lines: list[str] = []
        for step in steps:
            texts = [
                v.name if v in here and (not v.kept or self.random.random() < 0.6) else self.read(v)
                for v in step.used
            ]
            comma = "," if step.text.startswith("tf.gradients") else ""
            names = ", ".join(v.name for v in step.made)
            lines.append(f"{names}{comma} = {step.text.format(*texts)}")
            for made in step.made:
                lines += self.keep(made, ways)
            here |= set(step.made)
        return lines


def program(number: int) -> str:
    """The program that the number stands for."""
    writer = _Writer(random.Random(number))
    chance = writer.random
    ways = chance.sample(WAYS, chance.randint(1, 3))
    inputs, made = [], []
    for _ in range(chance.choice((1, 1, 2, 3))):
        of = chance.choice(inputs) if inputs and chance.random() < 0.25 else None
        inputs.append(writer.value(*([of] if of else [])))
        numbers = f"[0.{chance.randint(1, 9)}, 0.{chance.randint(1, 9)}]"
        kind = chance.choice(("tf.constant({})", "tf.constant({})", "tf.Variable({})"))
        text = f"tf.sin({of.name})" if of else kind.format(numbers)
        made.append(f"{inputs[-1].name} = {text}")
    steps = [writer.step() for _ in range(chance.randint(4, 9))]
    steps.append(writer.gradient(writer.pick()))
    cuts = sorted(chance.randint(0, len(steps)) for _ in range(2))
    parts = [steps[: cuts[0]], steps[cuts[0] : cuts[1]], steps[cuts[1] :]]
    begin = ["self.hs, self.d = [], {}", "self.box, self.layer = Box(), Layer()"]
    begin += [line for value in inputs for line in writer.keep(value, ways)]
    bodies = [
        writer.stage(part, set(inputs) if not i else set(), ways) for i, part in enumerate(parts)
    ]
    found = ", ".join(writer.read(v) for v in writer.results)
    handed = ["self", *(v.name for v in inputs)]
    methods = [
        _method("__init__", handed, begin + bodies[0]),
        _method("both", ["self", "a", "b"], ["return a * b + tf.tanh(a)"]),
        _method("build", ["self"], bodies[1] or ["pass"]),
        _method("finish", ["self"], [*bodies[2], f"return [{found}]"]),
        *writer.methods,
    ]
    text = "\n\n".join(methods).replace("\n", "\n    ").replace("\n    \n", "\n\n")
    names = ", ".join(v.name for v in inputs)
    run = ["def run():", *made, f"model = Model({names})", "model.build()", "return model.finish()"]
    return f"{HEADER}\n\nclass Model(object):\n    {text}\n\n\n" + "\n    ".join(run) + "\n"


def _method(name: str, arguments: list[str], body: list[str]) -> str:
    return "\n    ".join([f"def {name}({', '.join(arguments)}):", *body])
