"""The calls that ask a tape, as texts."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from tapemigrate.patterns import late
from tapemigrate.source.brackets import with_argument
from tapemigrate.tape.placing.region import Region
from tapemigrate.tape.planner import Tape
from tapemigrate.tape.request import Request
from tapemigrate.tape.writing.surroundings import Surroundings

# Beyond this column a choice between two calls takes a line for each.
_WIDTH = 88
# Beyond this one a call takes two, unless a line of it was as long before.
_LONGEST = 100
_ASKS = ".gradient("
# Where a call goes on in another line, at a parenthesis or elsewhere.
_AT_PARENTHESES = late(r"(?<=[(\[{])\s*\n\s*|\s*\n\s*(?=[)\]}])")
_BREAKS = late(r"\s*\n\s*")


def is_made_over_lines(code: str) -> bool:
    """Whether a call was broken here, and not in the text that it is made of."""
    first, _, more = code.partition("\n")
    return bool(more) and (first == "(" or first.endswith(_ASKS))


class Asking:
    """Writes the calls of one scope. ``targets`` names those that become statements."""

    def __init__(
        self,
        around: Surroundings,
        tape_of: Mapping[Request, Tape],
        region_of: Mapping[Request, Region],
        targets: Mapping[Request, str],
    ) -> None:
        self._around = around
        self._tape_of = tape_of
        self._region_of = region_of
        self._targets = targets

    def inside_another(self, request: Request) -> bool:
        """Whether the call's text becomes part of another one's."""
        if any(request in self._region_of[o].lower for o in self._region_of if o.api == "hessians"):
            return True
        node: ast.AST | None = self._around.parents.get(request.node)
        while node is not None and not isinstance(node, ast.stmt):
            for other in self._region_of:
                if other.node is node:
                    return True
            node = self._around.parents.get(node)
        return False

    def render(self, node: ast.expr, itself: bool = True) -> str:
        """The source text of ``node``, with the gradient calls inside it rewritten."""
        lines = self._around.lines
        span = lines.span(node)
        start = lines.offset(span.row, span.column)
        text = lines.segment(span)
        edits: list[tuple[int, int, str]] = []
        stack: list[ast.AST] = [node]
        by_node = {r.node: r for r in self._region_of if r.api != "hessians" or r.node is not None}
        while stack:
            current = stack.pop()
            request = by_node.get(current) if isinstance(current, ast.expr) else None
            if request is not None and (itself or current is not node):
                inner = lines.span(request.node)
                first = lines.offset(inner.row, inner.column) - start
                last = lines.offset(inner.end_row, inner.end_column) - start
                code = self.either(request)
                if self.is_optional(request) and not code.startswith("("):
                    code = f"({code})"
                edits.append((first, last, code))
                continue
            stack.extend(ast.iter_child_nodes(current))
        for first, last, code in sorted(edits, reverse=True):
            text = text[:first] + code + text[last:]
        return text

    def is_optional(self, request: Request) -> bool:
        """Whether there may be no tape to ask where the call runs."""
        return self._tape_of[request].optional and request.api != "threaded"

    def either(self, request: Request) -> str:
        """The call; where callers may hand in no tape, the old one stays for them."""
        code = self.call(request)
        if not self.is_optional(request):
            return self._broken(request, code)
        lines, node = self._around.lines, request.node
        old, test = self._old(request), f"{self._tape_of[request].name} is not None"
        parent = self._around.parents.get(node)
        code = f"{code} if {test} else {old}"
        plain = isinstance(parent, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return)
        listed = isinstance(parent, ast.keyword | ast.List) or _is_argument(node, parent)
        if "\n" not in code and lines.span(node).column + len(code) <= _WIDTH:
            return code if plain or listed else f"({code})"
        parts = [self.call(request), f"if {test}", f"else {old}"]
        return "\n".join(["(", *(f"    {p}" for p in parts), ")"])

    def _broken(self, request: Request, code: str) -> str:
        """The call over two lines, where one would be longer than any that it had."""
        lines, parents = self._around.lines, self._around.parents
        span = lines.span(request.node)
        limit = max(_LONGEST, *(len(lines.row(r)) for r in range(span.row, span.end_row + 1)))
        if "\n" in code or span.column + len(code) <= limit or _ASKS not in code:
            return code
        node: ast.AST | None = request.node
        while node is not None and not isinstance(node, ast.stmt):
            if isinstance(node, ast.JoinedStr):
                return code
            node = parents.get(node)
        head, _, rest = code.partition(_ASKS)
        return f"{head}{_ASKS}\n    {rest}"

    def _old(self, request: Request) -> str:
        """The call as it stands; a target that is computed before it goes by its name."""
        lines, whole = self._around.lines, self._around.lines.span(request.node)
        text = lines.segment(whole)
        if request.ahead is None or request.ahead.stmt is not None:
            return text
        start, target = lines.offset(whole.row, whole.column), lines.span(request.ahead.written)
        first = lines.offset(target.row, target.column) - start
        last = lines.offset(target.end_row, target.end_column) - start
        text = text[:first] + self._targets[request] + text[last:]
        return text if "#" in text else _BREAKS.sub(" ", _AT_PARENTHESES.sub("", text))

    def call(self, request: Request) -> str:
        """The call on its tape."""
        tape = self._tape_of[request]
        region = self._region_of[request]
        if request.api == "hessians":
            return self._hessians(request, tape, region)
        if request.api == "threaded":
            return with_argument(
                self.render(request.call, itself=False), f"{request.parameter}={tape.name}"
            )
        target = self._targets.get(request) or self.render(request.target)
        if request.api in ("jacobian", "batch_jacobian"):
            arguments = [target, self.render(request.sources)]
            arguments += [f"{k}={self.render(v)}" for k, v in request.extras.items()]
            return f"{tape.name}.{request.api}({', '.join(arguments)})"
        sources, index = self._sources(request, region)
        if request.gated and request.first and not index:
            # ``tf.tuple`` takes and gives lists.
            sources, index = f"[{sources}]", "[0]"
        code = f"{tape.name}.gradient({target}, {sources}{self._options(request, target)})"
        if request.gated:
            code = f"{self._around.tensorflow(request.call)}.tuple({code})"
        return code + index

    def _options(self, request: Request, target: str) -> str:
        code, given = "", request.output_gradients
        if given is not None and not _is_default(given, request.target):
            code += f", output_gradients={self._output_gradients(request, target)}"
        if request.unconnected is not None:
            code += f", unconnected_gradients={self.render(request.unconnected)}"
        return code

    def _output_gradients(self, request: Request, target: str) -> str:
        given = request.output_gradients
        assert given is not None
        if not isinstance(given, ast.List | ast.Tuple):
            return self.render(given)
        targets = request.target.elts if isinstance(request.target, ast.List | ast.Tuple) else None
        parts = []
        for place, part in enumerate(given.elts):
            if isinstance(part, ast.Constant) and part.value is None:
                # There are as many targets as ``grad_ys``, or TensorFlow raises.
                one = self.render(targets[place]) if targets else f"{target}[{place}]"
                tf = self._around.tensorflow(request.call)
                parts.append(f"{tf}.ones_like({one})")
            elif isinstance(part, ast.List | ast.Tuple):
                tf = self._around.tensorflow(request.call)
                parts.append(f"{tf}.constant({self.render(part)})")
            else:
                parts.append(self.render(part))
        return f"[{', '.join(parts)}]"

    def _sources(self, request: Request, region: Region) -> tuple[str, str]:
        """The sources as the tape takes them, and the index behind the call."""
        node = request.sources
        if isinstance(node, ast.List | ast.Tuple):
            if request.first and len(node.elts) == 1 and not isinstance(node.elts[0], ast.Starred):
                return self.render(node.elts[0]), ""
            inner = ", ".join(self.render(e) for e in node.elts)
            text = self.render(node)
            listed = text if isinstance(node, ast.List) else f"[{inner}]"
            return listed, "[0]" if request.first else ""
        text = self.render(node)
        single = region.sources.single
        if single is True:
            return (text, "") if request.first else (f"[{text}]", "")
        is_list = region.sources.listed and single is False
        if (not request.first and not is_list and not self._taken_apart(request)) or (
            request.first and single is None
        ):
            text = f"{self._around.tensorflow(request.call)}.nest.flatten({text})"
        return text, "[0]" if request.first else ""

    def _taken_apart(self, request: Request) -> bool:
        """Whether the result is unpacked or zipped, so that the sources must be several."""
        parent = self._around.parents.get(request.node)
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            target = parent.targets[0]
            return isinstance(target, ast.Tuple | ast.List) and len(target.elts) > 1
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name):
            same = ast.dump(request.sources)
            return parent.func.id == "zip" and any(ast.dump(a) == same for a in parent.args)
        return bool(
            isinstance(parent, ast.Call) and self._region_of[request].sources.single is False
        )

    def _hessians(self, request: Request, tape: Tape, region: Region) -> str:
        inner = next(iter(region.lower))
        gradients = self._targets.get(request) or self.call(inner)
        rows = ", experimental_use_pfor=False" if region.by_rows else ""
        if not several(region):
            source = self._single_source(request)
            code = f"{tape.name}.jacobian({gradients}, {source}{rows})"
            return code if request.first else f"[{code}]"
        text = self.render(request.sources)
        if region.sources.single is None and not isinstance(request.sources, ast.List | ast.Tuple):
            text = f"{self._around.tensorflow(request.call)}.nest.flatten({text})"
        code = f"[{tape.name}.jacobian(g, x{rows}) for g, x in zip({gradients}, {text})]"
        return f"{code}[0]" if request.first else code

    def _single_source(self, request: Request) -> str:
        node = request.sources
        return self.render(node.elts[0] if isinstance(node, ast.List | ast.Tuple) else node)


def _is_argument(node: ast.expr, parent: ast.AST | None) -> bool:
    return isinstance(parent, ast.Call) and any(a is node for a in parent.args)


def _is_default(given: ast.expr, target: ast.expr) -> bool:
    """Whether all ``grad_ys`` are None, and the targets have no texts of their own."""
    if not isinstance(given, ast.List | ast.Tuple) or isinstance(target, ast.List | ast.Tuple):
        return False
    return all(isinstance(e, ast.Constant) and e.value is None for e in given.elts)


def several(region: Region) -> bool:
    """Whether the sources are, or may be, more than one tensor."""
    node = region.request.sources
    if isinstance(node, ast.List | ast.Tuple):
        return len(node.elts) != 1 or isinstance(node.elts[0], ast.Starred)
    return region.sources.single is not True
