"""Reads the OpenAPI document of coffer into a plain model, from which each emitter renders its language.

Scalar schemas (`Id`, `Text`, `AssetCode`) disappear: a field has the kind of its value. Inline objects and enums get
a name. Request bodies, responses and pages are named structs.
"""

import json
import re
import sys
from dataclasses import asdict, dataclass, field

# Not for integrators: a payment provider calls it, and signs the request with a key that integrators do not have.
EXCLUDED_OPERATIONS = {"takeProviderCallback"}

# Read by the runtimes, never returned by a method.
EXCLUDED_SCHEMAS = {"ErrorEnvelope", "ProviderCallback", "Received", "OpenApi"}

# The error type of every client reads a problem, so the plain data has the name that RFC 9457 gives it.
RENAMED = {"Problem": "ProblemDetails", "OpenApi": "OpenApiDocument"}

# Names of inline enums that several schemas share. Others are named after the schema and the member.
ENUM_NAMES = {
    ("sandbox", "production"): "Environment",
    ("C2C", "C2B", "B2C", "B2B"): "PartyPair",
}

# An option of `anyOf` without one of these allows anything, so that a bulk row can be invalid on its own.
CONSTRAINTS = {"type", "$ref", "enum", "const"}

DECIMAL_PATTERN = re.compile(r"^\^-?\??\[0-9\]\+\(\\\.\[0-9\]")


@dataclass
class Type:
    """The type of a value.

    kind is one of:
      string, integer, boolean
      decimal       an amount or a rate: a decimal string on the wire
      time          an RFC 3339 time, date an ISO 8601 date, date_or_time either (requests only)
      json          any JSON value, free-form objects included
      array, map    of `items`; the keys of a map are strings
      ref           the named type `name` in Model.types
    """

    kind: str
    name: str | None = None
    items: "Type | None" = None
    nullable: bool = False
    const: object = None


@dataclass
class Field:
    """A member of a struct, or a parameter of an operation. `name` is the name on the wire."""

    name: str
    type: Type
    required: bool
    description: str
    sensitive: str | None = None  # "secret" or "personal": keep it out of the text form of the struct


@dataclass
class Named:
    """A named type: kind is struct, enum or union.

    An enum is open: a response can contain a value that a later version adds.
    A union is told apart by the value of `discriminator`: `mapping` has (values, name of the struct) in order.
    In a struct with `patch`, absent and null differ: null removes the member.
    """

    name: str
    kind: str
    description: str
    fields: list[Field] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    discriminator: str | None = None
    mapping: list[tuple[list[str], str]] = field(default_factory=list)
    patch: bool = False
    in_request: bool = False
    in_response: bool = False


@dataclass
class Operation:
    """An operation.

    auth: public (no credentials), token (x-svc-auth = API key, bearer = access token), connect (x-svc-auth = connect
      secret, bearer = ID token)
    repeat: how a request without a response can be repeated. always: it changes nothing, or the same state again.
      transaction: with the same `transactionId`. never: only if the server did not process it (429, 503, or no
      connection).
    body: the struct of the body; body_required; body_encoding json or form
    success: statuses with a result; createConnectQuote has 402 there
    result: type of the result, or null; with `envelope`, `data` of the response is the result
    text: media type if the response is text, and result is then string
    page_item: type of a row if the operation returns pages; result is then the page, with `data` and `nextCursor`.
      The query has `cursor`. Continue until `nextCursor` is null: a page can be empty and not the last.
    """

    id: str
    method: str
    path: str
    summary: str
    description: str
    tag: str
    auth: str
    scope: str | None
    path_params: list[Field]
    query: list[Field]
    body: str | None
    body_required: bool
    body_encoding: str
    success: list[int]
    result: Type | None
    envelope: bool
    text: str | None
    page_item: Type | None
    repeat: str


@dataclass
class Model:
    """Types by name in the order of the document, operations in the order of the document, and the catalogue of
    problems: the slugs with their status and title."""

    version: str
    types: dict[str, Named]
    operations: list[Operation]
    problems: list[tuple[str, int, str]]


def pascal(name: str) -> str:
    return name[:1].upper() + name[1:]


def words(name: str) -> list[str]:
    """The words of a name on the wire, in lower case: `notifyWhatsApp` -> notify, whats, app."""
    parts = re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+", name)
    return [part.lower() for part in parts]


class Reader:
    def __init__(self, document: dict):
        self.document = document
        self.schemas = document["components"]["schemas"]
        self.types: dict[str, Named] = {}
        self.shapes: dict[str, str] = {}

    def resolve(self, node: dict) -> dict:
        while "$ref" in node:
            target = self.document
            for part in node["$ref"][2:].split("/"):
                target = target[part]
            node = target
        return node

    def named(self, name: str) -> Type:
        """The type of a schema by its name: a reference if it is a named type, otherwise the scalar itself."""
        public = RENAMED.get(name, name)
        if public in self.types:
            return Type("ref", public)
        schema = self.schemas[name]
        if name == "OpenApi":
            return Type("json")
        if name == "DateOrTime":
            return Type("date_or_time")
        if name == "AmountIn":
            return Type("decimal")
        if "oneOf" in schema:
            self.types[public] = Named(public, "union", schema.get("description", ""))
            self.union(self.types[public], schema)
            return Type("ref", public)
        if schema.get("type") == "object" and "properties" in schema:
            self.types[public] = Named(public, "struct", schema.get("description", ""))
            self.members(self.types[public], schema)
            return Type("ref", public)
        if "enum" in schema:
            self.types[public] = Named(public, "enum", schema.get("description", ""), values=list(schema["enum"]))
            self.shapes.setdefault(json.dumps(schema["enum"]), public)
            return Type("ref", public)
        return self.type(schema, public)

    def union(self, named: Named, schema: dict) -> None:
        discriminator = schema.get("discriminator", {}).get("propertyName", "type")
        named.discriminator = discriminator
        for member in schema["oneOf"]:
            name = self.named(member["$ref"].split("/")[-1]).name
            tag = self.resolve(member)["properties"][discriminator]
            named.mapping.append(([tag["const"]] if "const" in tag else list(tag["enum"]), name))

    def members(self, named: Named, schema: dict) -> None:
        required = set(schema.get("required", []))
        for name, member in schema["properties"].items():
            full = {**self.resolve(member), **member}
            named.fields.append(Field(
                name, self.type(member, named.name + pascal(name)), name in required,
                full.get("description", ""), full.get("x-sensitive")))

    def type(self, schema: dict, context: str) -> Type:
        if "$ref" in schema:
            return self.named(schema["$ref"].split("/")[-1])
        for key in ("anyOf", "oneOf"):
            if key in schema:
                return self.choice(schema[key], context)
        if "enum" in schema:
            nullable = None in schema["enum"]
            return self.enum([value for value in schema["enum"] if value is not None], schema, context, nullable)
        kinds = schema.get("type")
        if kinds is None and "const" in schema:
            kinds = "boolean" if isinstance(schema["const"], bool) else "string"
        kinds = [kinds] if isinstance(kinds, str) else list(kinds or [])
        nullable = "null" in kinds
        kinds = [kind for kind in kinds if kind != "null"]
        if len(kinds) != 1:
            return Type("json", nullable=nullable)
        kind = kinds[0]
        if kind == "array":
            return Type("array", items=self.type(schema["items"], re.sub(r"s$", "", context)), nullable=nullable)
        if kind == "object":
            return self.object(schema, context, nullable)
        if kind == "string":
            return Type(self.string(schema), nullable=nullable, const=schema.get("const"))
        if kind == "number":
            return Type("decimal", nullable=nullable)
        return Type(kind, nullable=nullable, const=schema.get("const"))

    @staticmethod
    def string(schema: dict) -> str:
        if DECIMAL_PATTERN.match(schema.get("pattern", "")):
            return "decimal"
        return {"date-time": "time", "date": "date"}.get(schema.get("format"), "string")

    def choice(self, options: list[dict], context: str) -> Type:
        nullable = any(option.get("type") == "null" for option in options)
        options = [option for option in options if option.get("type") != "null" and option.keys() & CONSTRAINTS]
        if len(options) == 1:
            one = self.type(options[0], context)
            return Type(one.kind, one.name, one.items, nullable or one.nullable, one.const)
        values = []
        for option in options:
            full = self.resolve(option)
            values += full["enum"] if "enum" in full else [full["const"]]
        return self.enum(values, {}, context, nullable)

    def enum(self, values: list[str], schema: dict, context: str, nullable: bool) -> Type:
        shape = json.dumps(values)
        name = self.shapes.get(shape)
        if name is None:
            name = self.shapes[shape] = ENUM_NAMES.get(tuple(values), context)
            self.types[name] = Named(name, "enum", schema.get("description", ""), values=values)
        return Type("ref", name, nullable=nullable)

    def object(self, schema: dict, context: str, nullable: bool) -> Type:
        if "properties" in schema:
            shape = json.dumps({**schema, "description": ""}, sort_keys=True)
            name = self.shapes.get(shape)
            if name is None:
                name = self.shapes[shape] = context
                self.types[name] = Named(name, "struct", schema.get("description", ""))
                self.members(self.types[name], schema)
            return Type("ref", name, nullable=nullable)
        values = schema.get("additionalProperties")
        if isinstance(values, dict):
            return Type("map", items=self.type(values, context), nullable=nullable)
        return Type("json", nullable=nullable)

    def reach(self, kind: Type | None, flag: str) -> None:
        """Marks every type that a request or a response can contain."""
        while kind is not None and kind.kind in ("array", "map"):
            kind = kind.items
        if kind is None or kind.kind != "ref" or getattr(self.types[kind.name], flag):
            return
        named = self.types[kind.name]
        setattr(named, flag, True)
        for member in named.fields:
            self.reach(member.type, flag)
        for _, name in named.mapping:
            self.reach(Type("ref", name), flag)

    def parameters(self, operation: dict, place: str) -> list[Field]:
        found = []
        for parameter in operation.get("parameters", []):
            parameter = self.resolve(parameter)
            if parameter["in"] == place:
                schema = parameter["schema"]
                description = parameter.get("description") or self.resolve(schema).get("description", "")
                kind = self.type(schema, pascal(parameter["name"]))
                self.reach(kind, "in_request")
                found.append(Field(parameter["name"], kind, parameter.get("required", False), description))
        return found

    def operation(self, method: str, path: str, operation: dict) -> Operation:
        body, encoding = None, "json"
        content = operation.get("requestBody", {}).get("content", {})
        if content:
            encoding = "json" if "application/json" in content else "form"
            body = self.type(next(iter(content.values()))["schema"], "").name
            self.reach(Type("ref", body), "in_request")
            if method == "patch":
                self.mark_patch(body)
        success, result, text = self.result(operation)
        envelope = result is not None and result.kind == "ref" and result.name.endswith("Envelope")
        if envelope:
            result = next(f.type for f in self.types[result.name].fields if f.name == "data")
        query = self.parameters(operation, "query")
        page_item = None
        # Lists that are complete accept `cursor`, but have no next page.
        members = {f.name: f.type for f in self.types[result.name].fields} if result and result.kind == "ref" else {}
        if "nextCursor" in members and any(parameter.name == "cursor" for parameter in query):
            page_item = members["data"].items
        self.reach(result, "in_response")
        scope = re.search(r"scope `([a-z]+:[a-z]+)`", operation.get("description", ""))
        schemes = set(operation["security"][0])
        return Operation(
            id=operation["operationId"], method=method.upper(), path=path, summary=operation["summary"],
            description=operation.get("description", ""), tag=operation["tags"][0],
            auth="public" if not schemes else "connect" if "connectSecret" in schemes else "token",
            scope=scope and scope.group(1), path_params=self.parameters(operation, "path"), query=query,
            body=body, body_required=operation.get("requestBody", {}).get("required", False),
            body_encoding=encoding, success=success, result=result, envelope=envelope, text=text,
            page_item=page_item, repeat=self.repeat(method, path, operation["operationId"], body))

    def mark_patch(self, body: str) -> None:
        self.types[body].patch = True
        for member in self.types[body].fields:
            if member.type.kind == "ref" and member.type.name.startswith(body):
                self.types[member.type.name].patch = True

    def result(self, operation: dict) -> tuple[list[int], Type | None, str | None]:
        success, result, text = [], None, None
        for status, response in operation["responses"].items():
            if "$ref" in response or status == "304":
                continue
            success.append(int(status))
            for media, content in response.get("content", {}).items():
                result = self.type(content["schema"], pascal(operation["operationId"]) + "Result")
                if media != "application/json":
                    result, text = Type("string"), media
        return success, result, text

    def repeat(self, method: str, path: str, identity: str, body: str | None) -> str:
        if method in ("get", "put", "delete") or path.endswith("/validate"):
            return "always"
        if identity in ("createToken", "createOAuthToken", "signIn"):
            return "always"
        fields = self.types[body].fields if body else []
        if any(member.name == "transactionId" and member.required for member in fields):
            return "transaction"
        return "never"

    def problems(self) -> list[tuple[str, int, str]]:
        found = {}
        for example in self.document["components"]["examples"].values():
            value = example["value"]
            if str(value.get("type", "")).startswith("urn:coffer:problem:"):
                found[value["type"].rsplit(":", 1)[1]] = (value["status"], value["title"])
        return [(slug, *found[slug]) for slug in sorted(found)]


def read(document: dict) -> Model:
    """Reads a parsed OpenAPI document."""
    reader = Reader(document)
    for name in document["components"]["schemas"]:
        if name not in EXCLUDED_SCHEMAS:
            reader.named(name)
    operations = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if operation["operationId"] not in EXCLUDED_OPERATIONS:
                operations.append(reader.operation(method, path, operation))
    reader.reach(Type("ref", "Event"), "in_response")
    used = {name: named for name, named in reader.types.items() if named.in_request or named.in_response}
    return Model(document["info"]["version"], used, operations, reader.problems())


if __name__ == "__main__":
    # python3 clients/generator/model.py < openapi.json: the model as JSON, for reading
    print(json.dumps(asdict(read(json.load(sys.stdin))), indent=1))
