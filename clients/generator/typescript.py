"""Renders the TypeScript client: `types.ts` with interfaces, and `client.ts` with one method per operation."""

import textwrap

from generator.model import Field, Model, Named, Operation, Type

HEADER = "// Generated from the OpenAPI document by clients/generate. Do not edit.\n"
WIDTH = 118


def comment(text: str, indent: int) -> str:
    pad = " " * indent
    text = " ".join(text.split()).replace("*/", "* /")
    if len(text) + indent + 7 <= WIDTH:
        return f"{pad}/** {text} */\n"
    lines = textwrap.wrap(text, WIDTH - indent - 3)
    return f"{pad}/**\n" + "".join(f"{pad} * {line}\n" for line in lines) + f"{pad} */\n"


def quoted(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f'"{value}"'


def spell(kind: Type, request: bool, types: str = "") -> str:
    name = {
        "string": "string", "integer": "number", "boolean": "boolean", "json": "unknown", "date": "string",
        "time": "string", "decimal": types + "Decimal", "date_or_time": "string | Date",
    }.get(kind.kind)
    if kind.const is not None:
        name = quoted(kind.const)
    if kind.kind == "array":
        item = spell(kind.items, request, types)
        name = f"({item})[]" if " " in item and not item.startswith("{") else f"{item}[]"
        name = f"readonly {name}" if request else name
    if kind.kind == "map":
        name = f"{{ [name: string]: {spell(kind.items, request, types)} }}"
    if kind.kind == "ref":
        name = types + kind.name
    return f"{name} | null" if kind.nullable and name != "unknown" else name


def member(field: Field, named: Named) -> str:
    request = named.in_request and not named.in_response
    optional = "" if field.required else "?"
    return comment(field.description, 2) + f"  {field.name}{optional}: {spell(field.type, request)};\n"


def declaration(named: Named) -> str:
    about = comment(named.description, 0)
    if named.kind == "struct":
        return about + f"export interface {named.name} {{\n" + "".join(member(f, named) for f in named.fields) + "}\n"
    if named.kind == "union":
        return about + f"export type {named.name} = " + " | ".join(name for _, name in named.mapping) + ";\n"
    values = [quoted(value) for value in named.values]
    if named.in_response:
        values.append("(string & {})")
    line = f"export type {named.name} = " + " | ".join(values) + ";\n"
    if len(line) > WIDTH:
        line = f"export type {named.name} =\n" + "".join(f"  | {value}\n" for value in values)[:-1] + ";\n"
    return about + line


def free_form(model: Model) -> list[str]:
    """The members of requests that take any JSON value."""
    return sorted({
        field.name for named in model.types.values() if named.in_request for field in named.fields
        if field.type.kind == "json" or (field.type.kind == "map" and field.type.items.kind == "json")})


def method(operation: Operation) -> str:
    arguments = [f"{p.name}: {spell(p.type, True, 'types.')}" for p in operation.path_params]
    if operation.body:
        optional = "" if operation.body_required else "?"
        arguments.append(f"body{optional}: types.{operation.body}")
    if operation.query:
        members = "; ".join(
            f"{p.name}{'' if p.required else '?'}: {spell(p.type, True, 'types.')}" for p in operation.query)
        default = "" if any(p.required for p in operation.query) else " = {}"
        arguments.append(f"query: {{ {members} }}{default}")
    arguments.append("options: CallOptions = {}")
    result = spell(operation.result, False, "types.") if operation.result else "void"
    path = operation.path
    for parameter in operation.path_params:
        path = path.replace("{" + parameter.name + "}", "${escape(" + parameter.name + ")}")
    path = f"`{path}`" if operation.path_params else f'"{path}"'
    given = ["query"] if operation.query else []
    given += ["body"] if operation.body else []
    given += [f'auth: "{operation.auth}"'] if operation.auth != "token" else []
    given += [f'repeat: "{operation.repeat}"'] if operation.repeat != "always" else []
    given += ["form: true"] if operation.body_encoding == "form" else []
    given += ["envelope: true"] if operation.envelope else []
    given += ["text: true"] if operation.text else []
    given += ["success: 402"] if operation.success == [402] else []
    given += ["options"]
    about = operation.summary + (f". Requires the scope `{operation.scope}`." if operation.scope else ".")
    if operation.page_item:
        item = spell(operation.page_item, False, "types.")
        returns = f"Pages<{result}, {item}>"
        body = f"return new Pages<{result}, {item}>(this, {path}, {{ {', '.join(given)} }});"
    else:
        returns = f"Promise<{result}>"
        body = f'return this.request<{result}>("{operation.method}", {path}, {{ {", ".join(given)} }});'
    head = f"  {operation.id}({', '.join(arguments)}): {returns} {{\n"
    if len(head) > WIDTH:
        head = f"  {operation.id}(\n" + "".join(f"    {argument},\n" for argument in arguments) + f"  ): {returns} {{\n"
    return comment(about, 2) + head + f"    {body}\n  }}\n"


def render(model: Model) -> dict[str, str]:
    names = ", ".join(f'"{name}"' for name in free_form(model))
    types = (
        HEADER + "\n/** A decimal number as text, such as \"12.50\": a number of JavaScript cannot hold every amount. */\n"
        "export type Decimal = string;\n\n"
        "/** Members of requests that take any JSON value, also fractions. */\n"
        f"export const freeForm: ReadonlySet<string> = new Set([{names}]);\n\n"
        + "\n".join(declaration(named) for named in model.types.values()))
    client = (
        HEADER + 'import { CallOptions, Pages, Runtime, escape } from "./runtime.js";\n'
        'import * as types from "./types.js";\n\n'
        "/**\n * A client of the API. A method that creates a payment is repeated with the same transaction ID until there is a\n"
        " * response, at most until the deadline. A list is an async iterator over the rows of all pages.\n */\n"
        "export class Client extends Runtime {\n"
        + "\n".join(method(operation) for operation in model.operations) + "}\n")
    return {"typescript/src/types.ts": types, "typescript/src/client.ts": client}
