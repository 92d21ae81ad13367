"""The collection for Postman (format 2.1) and the template of its environment."""

import json
import uuid

from emit.requests import ENVIRONMENT, OF_THE_RUN, SECRETS, Request, description_of, folders_of, member

SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
# Stable, so that a new import replaces the former one.
NAMESPACE = uuid.UUID("6f4dbf4e-3f6c-5a57-9d3c-0c0ffe200001")
DAY_MS = 86400000

START_OF_RUN = f"""\
const day = (ms) => new Date(ms).toISOString().slice(0, 10);
pm.collectionVariables.set("run", String(Date.now()));
pm.collectionVariables.set("today", day(Date.now()));
pm.collectionVariables.set("tomorrow", day(Date.now() + {DAY_MS}));
"""


def script(listen: str, text: str) -> dict:
    return {"listen": listen, "script": {"type": "text/javascript", "exec": text.splitlines()}}


def before(request: Request) -> str:
    text = START_OF_RUN if request.starts_run else ""
    if request.pause_ms:
        text += f"setTimeout(() => {{}}, {request.pause_ms});\n"
    return text


def after(request: Request) -> str:
    text = f'pm.test("status {request.status}", () => pm.response.to.have.status({request.status}));\n'
    for name, path in request.saves.items():
        text += (f'pm.test("sets {name}", () => {{\n'
                 f"  const value = pm.response.json(){member(path)};\n"
                 f'  pm.expect(value).to.be.a("string").and.not.empty;\n'
                 f'  pm.collectionVariables.set("{name}", value);\n'
                 "});\n")
    return text


def url(request: Request) -> dict:
    sent = "&".join(f"{name}={value}" for name, value, is_sent, _ in request.query if is_sent)
    out = {"raw": "{{baseUrl}}" + request.path + (f"?{sent}" if sent else ""), "host": ["{{baseUrl}}"],
           "path": request.path.strip("/").split("/")}
    rows = [{"key": name, "value": value, "description": text, **({} if is_sent else {"disabled": True})}
            for name, value, is_sent, text in request.query]
    return {**out, "query": rows} if rows else out


def auth(request: Request) -> dict:
    token = {"token": "{{accessToken}}", "connect": "{{idToken}}"}.get(request.auth)
    if token is None:
        return {"type": "noauth"}
    return {"type": "bearer", "bearer": [{"key": "token", "value": token, "type": "string"}]}


def body(request: Request) -> dict | None:
    if request.body is None:
        return None
    if request.is_form:
        return {"mode": "urlencoded",
                "urlencoded": [{"key": name, "value": value, "type": "text"} for name, value in request.body.items()]}
    return {"mode": "raw", "raw": json.dumps(request.body, indent=2, ensure_ascii=False),
            "options": {"raw": {"language": "json"}}}


def item(request: Request) -> dict:
    key = {"token": "{{apiKey}}", "connect": "{{connectSecret}}"}.get(request.auth)
    headers = [{"key": "x-svc-auth", "value": key}] if key else []
    if request.body is not None and not request.is_form:
        headers.append({"key": "Content-Type", "value": "application/json"})
    events = [script("prerequest", before(request))] if before(request) else []
    content = {"method": request.method, "header": headers, "url": url(request), "auth": auth(request),
               "description": f"`{request.operation}`. {request.description}".strip()}
    if request.body is not None:
        content["body"] = body(request)
    return {"name": request.name, "event": [*events, script("test", after(request))], "request": content}


def text_of(value: dict) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def environment(name: str, values: dict[str, str]) -> dict:
    """An environment with these values; those that are missing are empty."""
    return {"id": str(uuid.uuid5(NAMESPACE, name)), "name": name, "_postman_variable_scope": "environment",
            "values": [{"key": key, "value": values.get(key, ""), "enabled": True,
                        "type": "secret" if key in SECRETS else "default"} for key in ENVIRONMENT]}


def render(version: str, steps: dict, requests: list[Request]) -> dict[str, str]:
    """The files by their path below collections/."""
    own = [*OF_THE_RUN, *dict.fromkeys(name for each in requests for name in each.saves)]
    collection = {
        "info": {"_postman_id": str(uuid.uuid5(NAMESPACE, "collection")), "name": "coffer", "schema": SCHEMA,
                 "version": version, "description": description_of(steps)},
        "item": [{"name": folder, "item": [item(each) for each in rows]} for folder, rows in folders_of(requests)],
        "variable": [{"key": name, "value": ""} for name in own],
    }
    return {"coffer.postman_collection.json": text_of(collection),
            "coffer.postman_environment.json": text_of(environment("coffer", {"baseUrl": "http://127.0.0.1:8080"}))}
