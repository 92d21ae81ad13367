// Checks recorded exchanges against the OpenAPI document that describes them, and needs nothing else of coffer. ajv
// evaluates JSON Schema in strict mode, to detect mistakes in schemas as well.
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

const METHODS = ['get', 'put', 'post', 'delete', 'patch'];
const withoutParameters = (type) => type.split(';')[0].trim().toLowerCase();

/** `#/components/schemas/X` becomes `components#/$defs/X`, so that other schemas can refer to it. */
function standAlone(value) {
  if (Array.isArray(value)) return value.map(standAlone);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' ? inner.replace('#/components/schemas/', 'components#/$defs/') : standAlone(inner),
    ]),
  );
}

export class Judge {
  #document;
  #ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
  #validators = new Map();
  findings = [];
  /** `get /path 200 application/json` of each exchange that was seen. */
  seen = new Set();

  #operations = new Map();
  /** The payment that a `/validate` operation checks, by operationId: the same checks reject both. */
  #origins = new Map();

  constructor(document) {
    this.#document = document;
    for (const [path, item] of Object.entries(document.paths)) {
      for (const method of METHODS.filter((name) => item[name])) {
        const operation = item[method];
        this.#operations.set(operation.operationId, { path, method, operation });
        const origin = document.paths[path.replace(/\/validate$/, '')]?.[method];
        if (origin) this.#origins.set(operation.operationId, origin.operationId);
      }
    }
    addFormats(this.#ajv);
    // Says which of several schemas applies; oneOf decides that too.
    this.#ajv.addKeyword('discriminator');
    // Marks members that the request log removes.
    this.#ajv.addKeyword('x-sensitive');
    this.#ajv.addSchema({ $id: 'components', $defs: standAlone(document.components.schemas) });
  }

  #resolve(part) {
    while (part?.$ref) {
      part = part.$ref
        .slice(2)
        .split('/')
        .reduce((at, key) => at?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], this.#document);
    }
    return part;
  }

  #errors(schema, value) {
    const key = JSON.stringify(schema);
    if (!this.#validators.has(key)) {
      this.#validators.set(key, this.#ajv.compile(standAlone(schema)));
    }
    const validate = this.#validators.get(key);
    return validate(value) ? [] : validate.errors.map((e) => `${e.instancePath || '/'} ${e.message}`);
  }

  #check(what, schema, text, type) {
    let value = text;
    if (type === 'application/json' || type.endsWith('+json')) {
      try {
        value = JSON.parse(text);
      } catch {
        this.findings.push(`${what}: no JSON: ${text.slice(0, 200)}`);
        return;
      }
    } else if (type === 'application/x-www-form-urlencoded') {
      value = Object.fromEntries(new URLSearchParams(text));
    }
    for (const error of this.#errors(schema, value)) {
      this.findings.push(`${what}: ${error} in ${text.slice(0, 300)}`);
    }
  }

  #checkQuery(what, operation, target) {
    const query = new URL(target, 'http://host').searchParams;
    for (const parameter of operation.parameters ?? []) {
      if (parameter.in !== 'query') continue;
      const text = query.get(parameter.name);
      if (!text) {
        // An empty value is an absent one.
        if (parameter.required) this.findings.push(`${what}: did without ${parameter.name}`);
        continue;
      }
      const schema = this.#resolve(parameter.schema);
      const value = schema.type === 'integer' ? Number(text) : text;
      for (const error of this.#errors(schema, value)) {
        this.findings.push(`${what}: accepted the query ${parameter.name}=${text}, but ${error}`);
      }
    }
  }

  #rejection(operation, slug) {
    return `${this.#origins.get(operation.operationId) ?? operation.operationId} rejecting with ${slug}`;
  }

  /** The problem must be one that this operation lists. */
  #checkProblem(what, operation, content, exchange) {
    if (!content.examples) return;
    const body = JSON.parse(exchange.response);
    const slug = body.type?.split(':').pop() ?? body.message.split(':')[0].toLowerCase().replaceAll('_', '-');
    if (!content.examples[slug]) this.findings.push(`${what}: the problem ${slug} is not in the document`);
    this.seen.add(this.#rejection(operation, slug));
  }

  /** An event in a response must have the documented shape of deliveries. */
  #checkEvents(what, exchange) {
    if (!exchange.pattern.startsWith('/v1/events') || exchange.status !== 200) return;
    const body = JSON.parse(exchange.response);
    for (const event of body.data?.length !== undefined ? body.data : [body]) {
      const webhook = this.#document.webhooks?.[event.type]?.post;
      if (!webhook) {
        this.findings.push(`${what}: no webhook is documented for ${event.type}`);
        continue;
      }
      this.seen.add(`event ${event.type}`);
      const { schema } = webhook.requestBody.content['application/json'];
      for (const error of this.#errors(schema, event)) this.findings.push(`webhook ${event.type}: ${error}`);
    }
  }

  judge(exchange) {
    const what = `${exchange.method} ${exchange.pattern} ${exchange.status}`;
    const type = withoutParameters(exchange.responseType);
    const method = exchange.method.toLowerCase();
    const path = exchange.pattern;
    const operation = this.#document.paths[path]?.[method];
    const response = this.#resolve(operation?.responses[exchange.status]);
    const content = this.#resolve(response?.content?.[type]);
    // 204 has neither a type nor a body.
    const empty = response && !response.content && !type && exchange.response === '';
    if (!content && !empty) {
      this.findings.push(`${what} with ${type || 'no type'} is not in the document`);
      return;
    }
    const key = `${method} ${path} ${exchange.status} ${type}`;
    this.seen.add(key);
    if (content) this.#checkProblem(what, operation, content, exchange);
    this.#checkEvents(what, exchange);
    if (content) this.#check(`${what}: response`, content.schema, exchange.response, type);
    // 402 is the only success outside 2xx, by convention of the directional quote.
    if (exchange.status < 300 || exchange.status === 402) this.#judgeRequest(what, `${method} ${path}`, operation, exchange);
  }

  /** An accepted request must be valid by the document. */
  #judgeRequest(what, key, operation, exchange) {
    this.#checkQuery(what, operation, exchange.target);
    if (!operation.requestBody) return;
    if (!operation.requestBody.required && exchange.request === '') return;
    const type = withoutParameters(exchange.requestType);
    const content = operation.requestBody.content[type];
    if (!content) {
      this.findings.push(`${what}: accepted a body of type ${type || 'none'}`);
      return;
    }
    this.seen.add(`${key} request ${type}`);
    this.#check(`${what}: request`, content.schema, exchange.request, type);
  }

  /** Everything in the document must have been seen. */
  close() {
    for (const [path, item] of Object.entries(this.#document.paths)) {
      for (const method of METHODS.filter((name) => item[name])) {
        for (const [status, response] of Object.entries(item[method].responses)) {
          for (const [type, content] of Object.entries(this.#resolve(response).content ?? { '': {} })) {
            const key = `${method} ${path} ${status} ${type}`;
            this.#expect(key);
            for (const slug of Object.keys(content.examples ?? {})) this.#expect(this.#rejection(item[method], slug));
          }
        }
        for (const type of Object.keys(item[method].requestBody?.content ?? {})) {
          this.#expect(`${method} ${path} request ${type}`);
        }
      }
    }
    for (const type of Object.keys(this.#document.webhooks ?? {})) this.#expect(`event ${type}`);
    return this.findings;
  }

  #expect(key) {
    if (!this.seen.has(key)) this.findings.push(`${key} is documented but was never recorded`);
  }
}

/** The exchanges that the document shows as examples: each success, and one problem of each operation. */
function* examplesOf(document) {
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS.filter((name) => item[name])) {
      const operation = item[method];
      const call = { method: method.toUpperCase(), pattern: path, target: path, request: '', requestType: '' };
      const [requestType, body] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
      const isForm = requestType === 'application/x-www-form-urlencoded';
      const request = () => (isForm ? `${new URLSearchParams(body.example)}` : JSON.stringify(body.example));
      if (body) Object.assign(call, { request: request(), requestType });
      for (const [status, { content }] of Object.entries(operation.responses)) {
        for (const [type, { example }] of Object.entries(content ?? {})) {
          const response = type === 'application/json' ? JSON.stringify(example) : example;
          yield { ...call, status: Number(status), responseType: type, response };
        }
      }
      const { status, body: problem } = operation['x-problem-example'] ?? { status: 'no problem' };
      const type = problem?.type ? 'application/problem+json' : 'application/json';
      yield { ...call, status, responseType: type, response: JSON.stringify(problem) };
    }
  }
}

export function findingsOf(document, exchanges) {
  const judge = new Judge(document);
  for (const exchange of exchanges) judge.judge(exchange);
  const examples = new Judge(document);
  // Examples do not contain required query parameters.
  for (const example of examplesOf(document)) examples.judge(example);
  const shown = examples.findings.filter((finding) => !/: did without /.test(finding));
  return [...judge.close(), ...shown.map((finding) => `example: ${finding}`)];
}
