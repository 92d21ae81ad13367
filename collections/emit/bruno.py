"""The collection for Bruno: one file per request, in a folder per tag, and an environment that reads the file .env."""

import json
import re

from emit.requests import ENVIRONMENT, Request, description_of, folders_of, member

DAY_MS = 86400000

START_OF_RUN = f"""\
const day = (ms) => new Date(ms).toISOString().slice(0, 10);
bru.setVar("run", String(Date.now()));
bru.setVar("today", day(Date.now()));
bru.setVar("tomorrow", day(Date.now() + {DAY_MS}));
"""


def block(name: str, text: str) -> str:
    """A block with indented content. A line in it must not start with a brace, which would end the block."""
    lines = "".join(f"  {line}\n" if line else "\n" for line in text.splitlines())
    return f"{name} {{\n{lines}}}\n"


def pairs(rows: list[tuple[str, str]]) -> str:
    return "".join(f"{name}: {value}".rstrip() + "\n" for name, value in rows)


def url(request: Request) -> str:
    sent = "&".join(f"{name}={value}" for name, value, is_sent, _ in request.query if is_sent)
    return "{{baseUrl}}" + request.path + (f"?{sent}" if sent else "")


def method_of(request: Request) -> str:
    kind = "none" if request.body is None else "formUrlEncoded" if request.is_form else "json"
    auth = "none" if request.auth == "public" else "bearer"
    return block(request.method.lower(), pairs([("url", url(request)), ("body", kind), ("auth", auth)]))


def before(request: Request) -> str:
    text = START_OF_RUN if request.starts_run else ""
    return text + (f"await bru.sleep({request.pause_ms});\n" if request.pause_ms else "")


def text_of(request: Request, number: int) -> str:
    blocks = [block("meta", pairs([("name", request.name), ("type", "http"), ("seq", str(number))])), method_of(request)]
    if request.query:
        rows = [(name if is_sent else "~" + name, value) for name, value, is_sent, _ in request.query]
        blocks.append(block("params:query", pairs(rows)))
    if request.auth != "public":
        key, token = {"token": ("apiKey", "accessToken"), "connect": ("connectSecret", "idToken")}[request.auth]
        blocks.append(block("headers", pairs([("x-svc-auth", "{{" + key + "}}")])))
        blocks.append(block("auth:bearer", pairs([("token", "{{" + token + "}}")])))
    if request.body is not None and request.is_form:
        blocks.append(block("body:form-urlencoded", pairs(list(request.body.items()))))
    elif request.body is not None:
        blocks.append(block("body:json", json.dumps(request.body, indent=2, ensure_ascii=False)))
    asserts = [("res.status", f"eq {request.status}")]
    asserts += [("res.body" + member(path), "isString") for path in request.saves.values()]
    blocks.append(block("assert", pairs(asserts)))
    if before(request):
        blocks.append(block("script:pre-request", before(request)))
    if request.saves:
        saves = "".join(f'bru.setVar("{name}", res.body{member(path)});\n' for name, path in request.saves.items())
        blocks.append(block("script:post-response", saves))
    blocks.append(block("docs", f"`{request.operation}`. {request.description}".strip()))
    return "\n".join(blocks)


def variable_of(name: str) -> str:
    """`clientSecret` -> `CLIENT_SECRET`, as `coffer demo --env` and the admin page name it."""
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).upper()


def environment() -> str:
    return block("vars", pairs([(name, "{{process.env." + variable_of(name) + "}}") for name in ENVIRONMENT]))


def env_file(values: dict[str, str]) -> str:
    """The file .env for these values."""
    return "".join(f"{variable_of(name)}={values[name]}\n" for name in ENVIRONMENT)


def render(version: str, steps: dict, requests: list[Request]) -> dict[str, str]:
    """The files by their path below collections/."""
    about = {"version": "1", "name": "coffer", "type": "collection", "ignore": ["node_modules", ".git"]}
    files = {"bruno/bruno.json": json.dumps(about, indent=2) + "\n",
             "bruno/collection.bru": block("docs", f"# coffer {version}\n\n{description_of(steps)}"),
             "bruno/environments/demo.bru": environment()}
    for place, (folder, rows) in enumerate(folders_of(requests), 1):
        path = f"bruno/{place:02}-{folder.lower().replace(' ', '-')}"
        files[f"{path}/folder.bru"] = block("meta", pairs([("name", folder), ("seq", str(place))]))
        for number, request in enumerate(rows, 1):
            again = sum(each.operation == request.operation for each in rows[:number])
            suffix = f"-{again}" if again > 1 else ""
            files[f"{path}/{request.operation}{suffix}.bru"] = text_of(request, number)
    return files
