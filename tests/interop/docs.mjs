// The API reference at /docs of the release build shows every operation of the OpenAPI document. Runs the page's script
// with the browser functions that it uses, and checks the result.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';

const { baseUrl } = JSON.parse(process.env.COFFER_TEST);
const folder = fileURLToPath(new URL('../../web/docs', import.meta.url));
const openapi = await (await fetch(`${baseUrl}/v1/openapi.json`)).json();
const html = readFileSync(join(folder, 'index.html'), 'utf8');

/** An element that is strict about its children, because a real one converts other values to text. */
class Element {
  attributes = {};
  children = [];
  listeners = {};

  constructor(tag) {
    this.tag = tag;
  }
  get tagName() {
    return this.tag.toUpperCase();
  }
  setAttribute(name, value) {
    assert.equal(typeof value, 'string', `${this.tag} ${name}`);
    this.attributes[name] = value;
  }
  addEventListener(name, listener) {
    this.listeners[name] = listener;
  }
  append(...children) {
    for (const child of children) {
      assert.ok(child instanceof Element || typeof child === 'string', `${this.tag} gets ${child}`);
      assert.ok(!/undefined|\[object|NaN/.test(child), `${this.tag} gets ${child}`);
      this.children.push(child);
    }
  }
  replaceChildren(...children) {
    this.children = [];
    this.append(...children);
  }
  hasChildNodes() {
    return this.children.length > 0;
  }
  get open() {
    return 'open' in this.attributes;
  }
  set open(on) {
    if (on) this.attributes.open = '';
    else delete this.attributes.open;
  }
  get textContent() {
    return this.children.map((child) => child.textContent ?? child).join('');
  }
  set textContent(text) {
    this.children = [text];
  }
  toString() {
    return this.textContent;
  }
  scrollIntoView() {
    Element.scrolledTo = this;
  }
  focus() {}
  *all(tag) {
    for (const child of this.children.filter((each) => each instanceof Element)) {
      if (child.tag === tag) yield child;
      yield* child.all(tag);
    }
  }
}

const known = Object.fromEntries(
  [...html.matchAll(/<(\w+) [^>]*?id="(\w+)"/g)].map(([, tag, id]) => [id, new Element(tag)]),
);
let drawn;
const finished = new Promise((resolve) => {
  drawn = resolve;
});
const listeners = {};
const browser = {
  document: {
    getElementById: (id) => {
      const found = known[id] ?? [...known.content.all('article')].find((each) => each.attributes.id === id);
      assert.ok(found, `element ${id} was not found`);
      return found;
    },
    createElement: (tag) => new Element(tag),
    addEventListener: (name, listener) => {
      listeners[name] = listener;
    },
  },
  location: { origin: 'http://127.0.0.1:8080', hash: '#createQuote' },
  matchMedia: () => ({ matches: false }),
  fetch: async (address) => {
    const guide = address.match(/^\/docs\/guides\/([\w-]+\.md)$/)?.[1];
    if (guide) return { ok: true, text: async () => readFileSync(join(folder, '../../docs', guide), 'utf8') };
    assert.equal(address, '/v1/openapi.json');
    setTimeout(drawn, 0);
    return { ok: true, json: async () => openapi };
  },
  setTimeout,
  addEventListener: () => {},
};
browser.globalThis = browser;
vm.createContext(browser);
for (const [, file] of html.matchAll(/src="\/docs\/(\w+\.js)"/g)) {
  vm.runInContext(readFileSync(join(folder, file), 'utf8'), browser, { filename: file });
}
await finished;
await new Promise((resolve) => setTimeout(resolve, 0));

const operations = Object.entries(openapi.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })));
const articles = new Map([...known.content.all('article')].map((each) => [each.attributes.id, each]));
const events = Object.entries(openapi.webhooks);
assert.equal(articles.size, operations.length + events.length, 'an article for each operation and event');
assert.equal(Element.scrolledTo, articles.get('createQuote'), 'the address says where to look');
const anchors = [...known.contents.all('a')].map((each) => each.attributes.href);
assert.deepEqual(new Set(anchors), new Set([...articles.keys()].map((id) => `#${id}`)));

// Opens all collapsed parts, a few levels deep, because schemas may contain each other.
for (let level = 0; level < 5; level += 1) {
  for (const details of [...known.content.all('details')]) {
    if (details.open) continue;
    details.open = true;
    details.listeners.toggle?.({ target: details });
    assert.ok(details.textContent.length > 10);
  }
  await new Promise((resolve) => setTimeout(resolve, 0)); // sections of a guide are read
}

const slugs = new Set();
for (const { path, method, operation } of operations) {
  const article = articles.get(operation.operationId);
  const text = article.textContent;
  const says = (what) => assert.ok(text.includes(what), `${operation.operationId} does not say ${what}`);
  says(method.toUpperCase());
  says(path);
  says(operation.summary);
  for (const parameter of operation.parameters ?? []) says(`${parameter.name} (${parameter.in})`);
  for (const status of Object.keys(operation.responses)) says(status);
  const scope = operation.description?.match(/scope `([^`]+)`/)?.[1];
  if (scope) says(scope);
  says(`curl -s 'http://127.0.0.1:8080${path.replaceAll(/\{(\w+)\}/g, '<$1>')}`);
  if (Object.keys(operation.security[0]).length > 0) says('-H "x-svc-auth: ');
  const body = operation.requestBody?.content['application/json'];
  if (body) {
    const example = JSON.parse(text.match(/-d '([^]*)'/)[1]);
    const schema = openapi.components.schemas[body.schema.$ref.split('/').pop()];
    for (const name of schema.required ?? []) assert.ok(name in example, `${operation.operationId}: ${name}`);
    for (const name of Object.keys(schema.properties ?? {})) says(name);
  }
  for (const [status, response] of Object.entries(operation.responses)) {
    if (response.content) assert.ok(text.includes('Example response'), `${operation.operationId} ${status}: no example`);
  }
  // Recorded: it names this operation's own path.
  const problem = operation['x-problem-example'];
  says(`Example problem, status ${problem.status}`);
  says(JSON.stringify(problem.body, null, 2));
  if (problem.body.instance) {
    const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
    assert.match(problem.body.instance, pattern, operation.operationId);
  }
  for (const link of article.all('a')) {
    const slug = link.attributes.href.match(/^\/problems\/(.+)/)?.[1];
    if (slug) slugs.add(slug);
  }
}
for (const response of Object.values(openapi.components.responses)) {
  for (const [, slug] of response.description.matchAll(/`([a-z0-9-]+)`/g)) {
    assert.ok(slugs.has(slug), `${slug} is not linked`);
  }
}

// The events: each with its body, and the guide's text about all of them.
for (const [type, { post }] of events) {
  const text = articles.get(`event-${type}`).textContent;
  const { schema, example } = post.requestBody.content['application/json'];
  assert.equal(example.type, type);
  const shape = openapi.components.schemas[schema.allOf[0].$ref.split('/').pop()];
  const expected = [type, post.summary, JSON.stringify(example, null, 2), ...Object.keys(shape.properties)];
  for (const each of expected) assert.ok(text.includes(each), `event ${type} does not say ${each}`);
}
const section = [...known.content.all('section')].find((each) => each.textContent.startsWith('Webhook events')).textContent;
const said = ['webhook-signature', 'constant time', 'Retry-After', '5 min later', '410'];
for (const each of said) assert.ok(section.includes(each), `the events do not say ${each}`);

// The search.
const box = known.search;
const visible = () => [...articles.values()].filter((each) => !each.hidden).map((each) => each.attributes.id);
const search = (text) => {
  box.value = text;
  box.listeners.input();
  return visible();
};
assert.deepEqual(search('post /v1/quotes'), ['createQuote']);
assert.equal(known.found.textContent, `1 of ${articles.size} operations and events`);
assert.deepEqual(search('no such thing at all'), []);
assert.equal(search('').length, articles.size);
const about = search('payment.refunded');
assert.ok(about.includes('event-payment.refunded') && !about.includes('createQuote'), about.join());
search('wallet');
box.listeners.keydown({ key: 'Escape' });
assert.equal(visible().length, articles.size);

// Words that are in no operation's name: found in descriptions, guides, glossary and problems.
const hitsOf = async (text) => {
  box.value = text;
  await box.listeners.input();
  return [...known.hits.all('li')].map((each) => each.textContent);
};
const refund = await hitsOf('refund');
assert.ok(visible().length > 3 && visible().length < operations.length, `refund finds ${visible().length} operations`);
assert.ok(refund.includes('Refund Glossary'), refund.join('; '));
assert.ok(refund.some((each) => /Webhooks|Contract|Sandbox/.test(each)), refund.join('; '));
assert.ok((await hitsOf('trustline missing')).some((each) => each.startsWith('trustline-missing Problem')));
for (const word of ['Association', 'Connector', 'Reference', 'Trustline', 'Strict send', 'Posting', 'Hold', 'Settlement']) {
  assert.ok((await hitsOf(word)).includes(`${word} Glossary`), `the glossary has no ${word}`);
}
assert.deepEqual(await hitsOf(''), []);
for (const [name] of vm.runInContext('cofferTexts.guides', browser)) {
  assert.ok(readFileSync(join(folder, '../../docs', `${name}.md`), 'utf8').length > 100, name);
}

// The samples of all languages make the same call. The installed languages check theirs.
const samples = vm.runInContext('cofferSamples', browser);
assert.deepEqual(Object.keys(samples), ['curl', 'Node.js', 'Python', 'Go', 'PHP']);
const CHECKS = {
  'Node.js': ['node', ['--input-type=module', '--check'], ''],
  Python: ['python3', ['-c', 'import ast,sys; ast.parse(sys.stdin.read())'], ''],
  Go: ['gofmt', ['-e'], ''],
  PHP: ['php', ['-l'], ''],
  curl: ['bash', ['-n'], ''],
};
const articleOf = (id) => articles.get(id);
const judged = new Set();
for (const id of ['createQuote', 'listWallets', 'createBeneficiary']) {
  for (const language of Object.keys(samples)) {
    const button = [...articleOf(id).all('button')].find((each) => each.textContent === language);
    button.listeners.click({ currentTarget: button });
    const code = [...articleOf(id).all('pre')].at(-1).textContent;
    assert.ok(code.includes('http://127.0.0.1:8080/v1/'), `${id} in ${language}`);
    const [program, args] = CHECKS[language];
    const run = spawnSync(program, args, { input: code, encoding: 'utf8' });
    if (run.error) continue; // not on this machine
    assert.equal(run.status, 0, `${id} in ${language}: ${run.stderr}\n${code}`);
    judged.add(language);
  }
}
assert.ok(judged.has('Node.js') && judged.has('Python') && judged.has('curl'));

console.log(`samples judged in ${[...judged].join(', ')}`);
console.log(`${operations.length} operations and ${events.length} events drawn, ${slugs.size} problems linked`);
