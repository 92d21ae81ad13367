"""Renders the Python client: `types.py` with dataclasses, and `client.py` with one method per operation."""

import keyword
import textwrap

from generator.model import Field, Model, Named, Operation, Type, words

HEADER = "# Generated from the OpenAPI document by clients/generate. Do not edit.\n"
WIDTH = 118


def snake(name: str) -> str:
    joined = "_".join(words(name.replace("OAuth", "Oauth")))
    return joined + "_" if keyword.iskeyword(joined) else joined


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def docstring(text: str, indent: int) -> str:
    pad = " " * indent
    lines = textwrap.wrap(" ".join(text.split()) or "Undocumented.", WIDTH - indent - 6)
    if not lines[-1].endswith((".", "`", ")", "?")):
        lines[-1] += "."
    body = ("\n" + pad).join(line.replace("\\", "\\\\") for line in lines)
    return f'{pad}"""{body}"""\n' if len(lines) == 1 else f'{pad}"""{body}\n{pad}"""\n'


def hint(kind: Type, request: bool, types: str = "") -> str:
    name = {
        "string": "str", "integer": "int", "boolean": "bool", "json": "Any", "date": "datetime.date",
        "time": "datetime.datetime", "decimal": types + "Amount" if request else "Decimal",
        "date_or_time": types + "DateOrTime",
    }.get(kind.kind)
    if kind.const is not None:
        name = f"Literal[{kind.const!r}]".replace("'", '"')
    if kind.kind == "array":
        name = ("Sequence" if request else "list") + f"[{hint(kind.items, request, types)}]"
    if kind.kind == "map":
        name = ("Mapping" if request else "dict") + f"[str, {hint(kind.items, request, types)}]"
    if kind.kind == "ref":
        name = types + kind.name
    return f"{name} | None" if kind.nullable and name != "Any" else name


def attribute(member: Field, named: Named) -> str:
    request = named.in_request and not named.in_response
    kind = hint(member.type, request)
    options = ["repr=False"] if member.sensitive else []
    default = None
    if member.type.const is not None and member.required and named.in_request:
        default = f"{member.type.const!r}".replace("'", '"')
    elif not member.required and named.patch:
        kind += " | Unset"
        default = "UNSET"
    elif not member.required:
        kind = kind if kind.endswith("| None") or kind == "Any" else kind + " | None"
        default = "None"
    if default:
        options.append(f"default={default}")
    value = f" = field({', '.join(options)})" if len(options) == 2 or member.sensitive else f" = {default}"
    line = f"    {snake(member.name)}: {kind}{value if options else ''}\n"
    return line + docstring(member.description, 4)


def struct(named: Named) -> str:
    text = "@dataclass(frozen=True, kw_only=True)\n" + f"class {named.name}:\n" + docstring(named.description, 4) + "\n"
    wire = {snake(f.name): f.name for f in named.fields if camel(snake(f.name)) != f.name}
    if wire:
        text += f"    WIRE: ClassVar[dict[str, str]] = {wire!r}\n\n".replace("'", '"')
    return text + "".join(attribute(member, named) for member in named.fields)


def literal(values: list[str]) -> str:
    text = ", ".join(f'"{value}"' for value in values)
    lines = textwrap.wrap(text, WIDTH - 4)
    return f"Literal[{text}]" if len(text) < 80 else "Literal[\n    " + "\n    ".join(lines) + ",\n]"


def render_types(model: Model) -> str:
    enums, structs, unions = [], [], []
    for named in model.types.values():
        about = "".join(f"# {line}\n" for line in textwrap.wrap(named.description, WIDTH - 2))
        if named.kind == "enum":
            enums.append(f"{about}{named.name}: TypeAlias = {literal(named.values)}\n")
        elif named.kind == "struct":
            structs.append(struct(named))
        else:
            members = " | ".join(name for _, name in named.mapping)
            unions.append(f"{about}{named.name}: TypeAlias = {members}\n")
    tags = "".join(
        f'    (\n        "{named.discriminator}",\n        {{\n'
        + "".join(f'            "{value}": {name},\n' for values, name in named.mapping for value in values)
        + "        },\n    ),\n"
        for named in model.types.values() if named.kind == "union")
    return (
        HEADER + '"""The types of the API. Responses can contain values that a later version adds to an enum."""\n\n'
        "from __future__ import annotations\n\n"
        "import datetime\nfrom collections.abc import Mapping, Sequence\nfrom dataclasses import dataclass, field\n"
        "from decimal import Decimal\nfrom typing import Any, ClassVar, Literal, TypeAlias\n\n"
        "# An amount in a request: never a float.\n"
        "Amount: TypeAlias = Decimal | str\n\n"
        "# A date, a time with a time zone, or the text of either.\n"
        "DateOrTime: TypeAlias = datetime.date | datetime.datetime | str\n\n\n"
        'class Unset:\n    """The type of UNSET."""\n\n'
        '    def __repr__(self) -> str:\n        return "UNSET"\n\n\n'
        "# The default in a patch: the member stays as it is, while None removes it.\nUNSET = Unset()\n\n"
        + "\n".join(enums)
        + "\n\n" + "\n\n".join(structs) + "\n\n" + "\n".join(unions)
        + "\n# The members of each union by the value of its discriminator.\n"
        "UNIONS: tuple[tuple[str, dict[str, type[Any]]], ...] = (\n" + tags + ")\n")


def wrap_call(head: str, arguments: list[str], tail: str) -> str:
    line = head + ", ".join(arguments) + tail
    if len(line) <= WIDTH:
        return line + "\n"
    pad = " " * (len(head) - len(head.lstrip()) + 4)
    return head + "\n" + "".join(f"{pad}{argument},\n" for argument in arguments) + pad[:-4] + tail + "\n"


def method(operation: Operation) -> str:
    arguments = ["self"] + [f"{snake(p.name)}: {hint(p.type, True, 'types.')}" for p in operation.path_params]
    if operation.body:
        kind = f"types.{operation.body}"
        arguments.append(f"body: {kind}" if operation.body_required else f"body: {kind} | None = None")
    if operation.query:
        arguments.append("*")
        for parameter in operation.query:
            kind = hint(parameter.type, True, "types.")
            arguments.append(f"{snake(parameter.name)}: {kind}" + ("" if parameter.required else " | None = None"))
    result = hint(operation.result, False, "types.") if operation.result else "None"
    path = operation.path
    for parameter in operation.path_params:
        path = path.replace("{" + parameter.name + "}", "{escape(" + snake(parameter.name) + ")}")
    path = f'f"{path}"' if operation.path_params else f'"{path}"'
    query = "{" + ", ".join(f'"{p.name}": {snake(p.name)}' for p in operation.query) + "}"
    about = operation.summary + (f". Requires the scope `{operation.scope}`." if operation.scope else ".")
    if operation.page_item:
        item = hint(operation.page_item, False, "types.")
        returns = f"Pages[{result}, {item}]"
        call = wrap_call(f"        return {returns}(", ["self", result, path, query, f'"{operation.auth}"'], ")")
    else:
        returns = result
        given = [f'"{operation.method}"', path, result if operation.result else "None"]
        given += [f"query={query}"] if operation.query else []
        given += ["body=body"] if operation.body else []
        given += [f'auth="{operation.auth}"'] if operation.auth != "token" else []
        given += [f'repeat="{operation.repeat}"'] if operation.repeat != "always" else []
        given += ["form=True"] if operation.body_encoding == "form" else []
        given += ["envelope=True"] if operation.envelope else []
        given += ["text=True"] if operation.text else []
        given += ["success=(402,)"] if operation.success == [402] else []
        if operation.result:
            call = wrap_call(f"        result: {result} = self.request(", given, ")") + "        return result\n"
        else:
            call = wrap_call("        self.request(", given, ")")
    head = wrap_call(f"    def {snake(operation.id)}(", arguments, f") -> {returns}:")
    return head + docstring(about, 8) + call


def render(model: Model) -> dict[str, str]:
    methods = "\n".join(method(operation) for operation in model.operations)
    imports = "import datetime\n" if "datetime." in methods else ""
    containers = [name for name in ("Mapping", "Sequence") if f" {name}[" in methods]
    imports += f"from collections.abc import {', '.join(containers)}\n" if containers else ""
    client = (
        HEADER + '"""The client: one method per operation of the API."""\n\n'
        "from __future__ import annotations\n\n"
        + imports + "from typing import Any\n\n"
        "from coffer import types\nfrom coffer.runtime import Pages, Runtime, escape\n\n\n"
        "class Client(Runtime):\n"
        '    """A client of the API. Threads can share it.\n\n'
        "    A method that creates a payment is repeated with the same transaction ID until there is a response, at most\n"
        '    until the deadline. A list is an iterator over the rows of all pages.\n    """\n\n'
        + methods)
    return {
        "python/coffer/types.py": render_types(model),
        "python/coffer/client.py": client,
    }
