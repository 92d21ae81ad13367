"""Joins the steps of steps.json with the operations and the recorded examples of the OpenAPI document."""

import copy
import re
from dataclasses import dataclass

# Variables that the environment gives: the name, and the member of the demo's JSON. IDs come from responses.
ENVIRONMENT = ("baseUrl", "clientId", "clientSecret", "apiKey", "connectSecret", "publicKey", "signInSecret")
SECRETS = ("clientSecret", "apiKey", "connectSecret", "signInSecret")
# Variables that the first request sets: a number for each run, and dates in UTC.
OF_THE_RUN = ("run", "today", "tomorrow")
VARIABLE = re.compile(r"\{\{(\w+)\}\}")


@dataclass
class Request:
    """One request of a collection. `query`: rows of name, value, whether it is sent, and description. `saves`:
    variable -> path in the body of the response, as a list of members and indexes."""

    operation: str
    name: str
    folder: str
    description: str
    method: str
    path: str
    query: list[tuple[str, str, bool, str]]
    auth: str
    body: dict | None
    is_form: bool
    status: int
    saves: dict[str, list[str]]
    pause_ms: int
    starts_run: bool


def operations_of(document: dict) -> dict[str, tuple[str, str, dict]]:
    """Method, path and description of each operation, by its ID."""
    return {operation["operationId"]: (method.upper(), path, operation)
            for path, methods in document["paths"].items() for method, operation in methods.items()}


def resolved(document: dict, node: dict) -> dict:
    while "$ref" in node:
        target = document
        for part in node["$ref"][2:].split("/"):
            target = target[part]
        node = target
    return node


def with_variables(value: object, members: dict[str, str], transaction: str) -> object:
    """A recorded example with a variable in place of each ID, and with the transaction ID of this request."""
    if isinstance(value, list):
        return [with_variables(each, members, transaction) for each in value]
    if not isinstance(value, dict):
        return value
    own = {**members, "transactionId": transaction}
    return {name: own[name] if name in own and isinstance(each, str) else with_variables(each, members, transaction)
            for name, each in value.items()}


def body_of(operation: dict, step: dict, members: dict[str, str]) -> tuple[dict | None, bool]:
    """The body, and whether it is a form. A member of the step that is null is left out."""
    content = operation.get("requestBody", {}).get("content", {})
    if not content:
        return None, False
    media, shape = next(iter(content.items()))
    is_form = media != "application/json"
    body = {} if is_form else with_variables(copy.deepcopy(shape["example"]), members, "{{run}}-" + step["call"])
    body |= step.get("body", {})
    return {name: value for name, value in body.items() if name not in step.get("body", {}) or value is not None}, is_form


def name_of(document: dict, operation: dict, path: str) -> str:
    """The summary. Those of validating operations are all the same, so the payment's is added."""
    payment = document["paths"].get(path.removesuffix("/validate"), {}).get("post", {})
    return f'Validate: {payment["summary"]}' if path.endswith("/validate") and payment else operation["summary"]


def success_of(operation: dict, step: dict) -> int:
    """The status of the step, or the only successful one that the document declares."""
    declared = [int(status) for status, response in operation["responses"].items()
                if "$ref" not in response and status != "304"]
    expected = step.get("status", declared[0])
    if expected not in declared or ("status" not in step and len(declared) > 1):
        raise SystemExit(f'{step["call"]}: "status" must be one of {declared}')
    return expected


def request_of(document: dict, step: dict, members: dict[str, str], is_first: bool) -> Request:
    method, declared, operation = operations_of(document)[step["call"]]
    path, given, sent, query = declared, step.get("path", {}), step.get("query", {}), []
    parameters = [resolved(document, each) for each in operation.get("parameters", [])]
    for each in parameters:
        name = each["name"]
        if each["in"] == "path":
            path = path.replace("{" + name + "}", given.get(name, "{{" + name + "}}"))
        elif each["in"] == "query":
            text = each.get("description") or resolved(document, each["schema"]).get("description", "")
            shown = name + "[key]" if each.get("style") == "deepObject" else name
            query.append((shown, sent.get(name, ""), name in sent, text))
    unknown = (given.keys() | sent.keys()) - {each["name"] for each in parameters}
    if unknown:
        raise SystemExit(f'{step["call"]}: unknown parameters {sorted(unknown)}')
    body, is_form = body_of(operation, step, members)
    schemes = set(operation["security"][0])
    return Request(
        operation=step["call"], name=step.get("name") or name_of(document, operation, declared),
        folder=step.get("folder", operation["tags"][0]), description=operation.get("description", ""), method=method,
        path=path, query=sorted(query, key=lambda row: not row[2]),
        auth="public" if not schemes else "connect" if "connectSecret" in schemes else "token", body=body,
        is_form=is_form, status=success_of(operation, step),
        saves={name: place.split(".") for name, place in step.get("save", {}).items()}, pause_ms=step.get("pause", 0),
        starts_run=is_first)


def check(document: dict, steps: dict, requests: list[Request]) -> None:
    """Every operation is in a step or left out, folders are contiguous, names in a folder differ, and every variable is
    set before it is used."""
    called = {each.operation for each in requests}
    missing = operations_of(document).keys() - called - steps["leftOut"].keys()
    if missing:
        raise SystemExit(f"steps.json has no step for {sorted(missing)}, and does not leave it out")
    wrong = steps["leftOut"].keys() & called | steps["leftOut"].keys() - operations_of(document).keys()
    if wrong:
        raise SystemExit(f"steps.json leaves out operations that are called or do not exist: {sorted(wrong)}")
    known, seen, last = {*ENVIRONMENT, *OF_THE_RUN}, set(), ""
    for each in requests:
        if each.folder != last and each.folder in {folder for folder, _ in seen}:
            raise SystemExit(f"{each.name}: the steps of {each.folder} are not together")
        if (each.folder, each.name) in seen:
            raise SystemExit(f'{each.name}: give the second step a "name"')
        seen.add((each.folder, each.name))
        last = each.folder
        used = set(VARIABLE.findall(f"{each.path} {each.body} {each.query}"))
        used |= {"token": {"apiKey", "accessToken"}, "connect": {"connectSecret", "idToken"}}.get(each.auth, set())
        if used - known:
            raise SystemExit(f"{each.name}: {sorted(used - known)} is not set by an earlier step")
        known |= each.saves.keys()


def read(document: dict, steps: dict) -> list[Request]:
    """The requests of a collection, in order."""
    requests = [request_of(document, step, steps["members"], number == 0)
                for number, step in enumerate(steps["steps"])]
    check(document, steps, requests)
    return requests


def folders_of(requests: list[Request]) -> list[tuple[str, list[Request]]]:
    """The requests by folder, in order."""
    folders: dict[str, list[Request]] = {}
    for each in requests:
        folders.setdefault(each.folder, []).append(each)
    return list(folders.items())


def member(path: list[str]) -> str:
    """A path in a body as JavaScript: `.results[0].id`."""
    return "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in path)


def description_of(steps: dict) -> str:
    """The text of a whole collection."""
    rows = "\n".join(f"- `{name}`: {reason}" for name, reason in steps["leftOut"].items())
    return ("Every operation of coffer's API with its recorded example. Run all requests in order, or send the first one "
            f"and then any other: it requests a token, and later requests use IDs of earlier responses.\n\nLeft out:\n\n{rows}\n")
