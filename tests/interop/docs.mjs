// The API reference at /docs of the release build shows every operation of the OpenAPI document.
import assert from 'node:assert/strict';

import { articles, baseUrl, constant, Element, guideText, known, openapi, operations } from './docs_page.mjs';

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
  says(`curl -s '${baseUrl}${path.replaceAll(/\{(\w+)\}/g, '<$1>')}`);
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

for (const [name] of constant('cofferTexts.guides')) assert.ok(guideText(`${name}.md`).length > 100, name);
console.log(`${operations.length} operations and ${events.length} events drawn, ${slugs.size} problems linked`);
