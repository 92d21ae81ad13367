// Draws the API reference from /v1/openapi.json. All texts of the document become text nodes, so they cannot contain
// markup.
'use strict';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
// Only the reference of a demo loads try.js.
const offersTrial = typeof cofferTry === 'object';
let openapi;

/** An element with attributes (`class`, `href`, ...; `on...` is a listener) and children. */
function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null));
  return element;
}

function resolve(part) {
  let at = part;
  while (at && at.$ref) {
    const path = at.$ref.slice(2).split('/');
    at = path.reduce((step, key) => step[key.replaceAll('~1', '/').replaceAll('~0', '~')], openapi);
  }
  return at;
}

const refName = (schema) => schema.$ref.split('/').pop();

/** A text in which backticks mark code. */
function prose(text) {
  return text.split('`').map((piece, i) => (i % 2 ? h('code', {}, piece) : piece));
}

// --- Schemas ------------------------------------------------------------------------------------------

/** The alternatives of oneOf and anyOf without null, which the text of the type mentions. */
function alternatives(schema) {
  const list = schema.oneOf || schema.anyOf;
  return list && list.filter((each) => each.type !== 'null');
}

function typeText(schema) {
  if (schema.$ref) {
    const target = resolve(schema);
    return isComposite(target) ? refName(schema) : `${refName(schema)}: ${typeText(target)}`;
  }
  if ('const' in schema) return JSON.stringify(schema.const);
  const choices = alternatives(schema);
  if (choices) {
    const nullable = choices.length < (schema.oneOf || schema.anyOf).length;
    return choices.map(typeText).join(' or ') + (nullable ? ' or null' : '');
  }
  const types = [schema.type || 'any'].flat();
  return types
    .map((type) => {
      if (type === 'array') return `array of ${schema.items ? typeText(schema.items) : 'any'}`;
      return schema.format && type !== 'null' ? `${type} (${schema.format})` : type;
    })
    .join(' or ');
}

const LIMITS = [
  ['minimum', 'at least'], ['exclusiveMinimum', 'more than'], ['maximum', 'at most'],
  ['minLength', 'minimum length'], ['maxLength', 'maximum length'], ['minItems', 'minimum items'], ['maxItems', 'maximum items'],
  ['pattern', 'pattern'], ['default', 'default'],
];

function limits(schema) {
  const target = resolve(schema);
  const out = LIMITS.filter(([key]) => key in target).map(([key, word]) => `${word} ${target[key]}`);
  if (target.enum) out.unshift(`one of ${target.enum.join(', ')}`);
  if (target.examples) out.push(`for example ${target.examples.map((e) => JSON.stringify(e)).join(', ')}`);
  return out.join('; ');
}

/** Whether a schema has more to show than its type. */
function isComposite(schema) {
  const target = resolve(schema);
  if (target.properties) return true;
  if (target.items) return isComposite(target.items);
  const choices = alternatives(target);
  return Boolean(choices && choices.some(isComposite));
}

/** The members of a schema, drawn when the section is opened, because schemas can be recursive. */
function expandable(schema) {
  const body = h('div');
  const open = ({ target }) => {
    if (target.open && !body.hasChildNodes()) body.append(...schemaBody(resolve(schema)).flat(Infinity));
  };
  return h('details', { class: 'schema', ontoggle: open },
    h('summary', {}, schema.$ref ? refName(schema) : typeText(schema)), body);
}

function member(name, schema, required) {
  const description = schema.description || resolve(schema).description;
  const facts = limits(schema);
  return h('li', {},
    h('span', { class: 'name' }, name), ' ',
    h('span', { class: 'soft' }, typeText(schema)), ' ',
    required ? h('span', { class: 'required' }, 'required') : null,
    description ? h('p', {}, prose(description)) : null,
    facts ? h('p', { class: 'soft' }, facts) : null,
    isComposite(schema) ? nested(schema) : null);
}

/** The expandable schemas below a member: looks through arrays and alternatives for objects. */
function nested(schema) {
  const target = resolve(schema);
  if (target.properties) return expandable(schema);
  if (target.items) return nested(target.items);
  return (alternatives(target) || []).filter(isComposite).map(nested).flat();
}

function schemaBody(schema) {
  const out = [];
  if (schema.description) out.push(h('p', {}, prose(schema.description)));
  if (schema.properties) {
    const required = new Set(schema.required);
    out.push(h('ul', { class: 'fields' },
      Object.entries(schema.properties).map(([name, each]) => member(name, each, required.has(name)))));
  } else if (schema.items) {
    out.push(h('p', { class: 'soft' }, typeText(schema)), ...[nested(schema.items)].flat());
  } else if (alternatives(schema)) {
    out.push(...alternatives(schema).flatMap(nested));
  } else {
    out.push(h('p', { class: 'soft' }, [typeText(schema), limits(schema)].filter(Boolean).join('; ')));
  }
  return out;
}

// --- Examples -----------------------------------------------------------------------------------------

/** The call, from which the samples of all languages are made. `values` gives the value of a parameter by its name. */
function callOf(method, path, operation) {
  // On a demo, with the IDs that the reader's credentials and responses have made known.
  const values = (name) => (offersTrial && cofferTry.parameterValue(path, name)) || `<${name}>`;
  const query = (operation.parameters || [])
    .filter((each) => each.in === 'query' && each.required)
    .map((each) => `${each.name}=${values(each.name)}`);
  const address = location.origin + path.replaceAll(/\{(\w+)\}/g, (_, name) => values(name));
  const headers = Object.keys(operation.security?.[0] || {}).map((name) => {
    const scheme = openapi.components.securitySchemes[name];
    if (scheme.type === 'http') return ['Authorization', 'Bearer $TOKEN'];
    return [scheme.name, name === 'connectSecret' ? '$CONNECT_SECRET' : '$KEY'];
  });
  const body = operation.requestBody && operation.requestBody.content['application/json'];
  return {
    operation,
    values,
    method: method.toUpperCase(),
    origin: location.origin,
    url: address + (query.length > 0 ? `?${query.join('&')}` : ''),
    headers,
    body: body && body.example !== undefined && offersTrial ? cofferTry.withKnown(body.example) : body?.example,
  };
}

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // The clipboard requires a secure context. Select the text instead, so that the reader can copy it.
    const range = document.createRange();
    range.selectNodeContents(button.nextElementSibling);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    document.execCommand('copy');
  }
  button.textContent = 'Copied';
  setTimeout(() => { button.textContent = 'Copy'; }, 2000);
}

const languages = []; // one function per example: a choice applies to all of them
let chosen = 'curl';

function choose(language) {
  chosen = language;
  for (const each of languages) each(language);
}

if (offersTrial) cofferTry.learned = () => choose(chosen);

/** Samples of the call that `make` returns, in each language. Only the chosen one is drawn. */
function examples(make, what) {
  const place = h('div');
  const buttons = Object.keys(cofferSamples).map((language) =>
    h('button', { type: 'button', 'aria-pressed': 'false', onclick: () => choose(language) }, language));
  const show = (language) => {
    Object.keys(cofferSamples).forEach((each, i) =>
      buttons[i].setAttribute('aria-pressed', String(each === language)));
    place.replaceChildren(example(cofferSamples[language](make()), `${what} in ${language}`));
  };
  languages.push(show);
  show(chosen);
  return [h('div', { class: 'languages', role: 'group', 'aria-label': `Language of the example of ${what}` }, buttons), place];
}

function example(text, what) {
  return h('div', { class: 'example' },
    h('button', { class: 'copy', type: 'button', 'aria-label': `Copy the example of ${what}`,
      onclick: ({ currentTarget }) => copy(text, currentTarget) }, 'Copy'),
    h('pre', { tabindex: '0' }, h('code', {}, text)));
}

// --- Operations ---------------------------------------------------------------------------------------

function parameterList(operation) {
  return (operation.parameters || []).map((each) => {
    const shown = { ...resolve(each.schema), ...(each.description ? { description: each.description } : {}) };
    return member(`${each.name} (${each.in})`, shown, each.required);
  });
}

function shape(type, schema) {
  return h('div', {}, h('span', { class: 'soft' }, type),
    isComposite(schema) ? nested(schema) : [' ', typeText(schema)]);
}

/** A recorded response, drawn when it is opened. */
function reply(value, title = 'Example response') {
  const body = h('div');
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  const open = ({ target }) => {
    if (target.open && !body.hasChildNodes()) body.append(h('pre', { tabindex: '0' }, h('code', {}, text)));
  };
  return h('details', { class: 'schema', ontoggle: open }, h('summary', {}, title), body);
}

function responseItem(status, response) {
  const whole = resolve(response);
  if (Number(status) >= 400 && response.$ref) {
    const slugs = [...whole.description.matchAll(/`([a-z0-9-]+)`/g)].map(([, slug]) => slug);
    return h('li', {}, h('span', { class: 'name' }, status), ' ',
      slugs.flatMap((slug, i) => [i > 0 ? ', ' : '', h('a', { href: `/problems/${slug}` }, slug)]));
  }
  return h('li', {}, h('span', { class: 'name' }, status), ' ',
    Object.entries(whole.content || {}).map(([type, { schema, example: value }]) =>
      [shape(type, schema), value === undefined ? null : reply(value)]));
}

function access(operation) {
  const names = Object.keys(operation.security?.[0] || {});
  if (names.length === 0) return 'No credentials needed.';
  return names.map((name) => {
    const { name: header, description } = openapi.components.securitySchemes[name];
    return `\`${header || 'Authorization: Bearer'}\`: ${description}.`;
  }).join(' ');
}

function article({ method, path, operation }) {
  const problem = operation['x-problem-example'];
  const parameters = parameterList(operation);
  const responses = Object.entries(operation.responses);
  const of = (test) => responses.filter(([status, response]) => test(Number(status) >= 400 && response.$ref));
  return h('article', { id: operation.operationId },
    h('h3', {}, h('a', { href: `#${operation.operationId}` },
      h('span', { class: `method ${method}` }, method.toUpperCase()), ' ',
      h('span', { class: 'path' }, path))),
    h('p', {}, prose(operation.summary)),
    operation.description ? h('p', {}, prose(operation.description)) : null,
    h('p', { class: 'soft' }, prose(access(operation))),
    parameters.length > 0 ? [h('h4', {}, 'Parameters'), h('ul', { class: 'fields' }, parameters)] : null,
    operation.requestBody
      ? [h('h4', {}, operation.requestBody.required ? 'Request body' : 'Request body, optional'),
        Object.entries(operation.requestBody.content).map(([type, { schema }]) => shape(type, schema))]
      : null,
    h('h4', {}, 'Responses'),
    h('ul', { class: 'responses' }, of((isProblem) => !isProblem).map(([s, r]) => responseItem(s, r))),
    h('h4', {}, 'Problems'),
    h('ul', { class: 'responses' }, of((isProblem) => isProblem).map(([s, r]) => responseItem(s, r))),
    problem ? reply(problem.body, `Example problem, status ${problem.status}`) : null,
    h('h4', {}, 'Example'),
    examples(() => callOf(method, path, operation), `${method.toUpperCase()} ${path}`),
    offersTrial ? cofferTry.panel({ method, path, operation }) : null);
}

function operationsByTag() {
  const tags = new Map(openapi.tags.map((tag) => [tag.name, { ...tag, operations: [] }]));
  for (const [path, item] of Object.entries(openapi.paths)) {
    for (const method of METHODS.filter((each) => item[each])) {
      const operation = item[method];
      const name = operation.tags[0];
      if (!tags.has(name)) tags.set(name, { name, operations: [] });
      tags.get(name).operations.push({ method, path, operation });
    }
  }
  return [...tags.values()].filter((tag) => tag.operations.length > 0);
}

function draw() {
  const contents = document.getElementById('contents');
  const content = document.getElementById('content');
  const narrow = matchMedia('(max-width: 52rem)').matches;
  content.replaceChildren(h('p', {}, prose(openapi.info.description)));
  if (offersTrial) content.append(cofferTry.credentials());
  for (const tag of operationsByTag()) {
    const links = tag.operations.map(({ method, path, operation }) => h('li', {},
      h('a', { href: `#${operation.operationId}`, title: operation.summary },
        h('span', { class: `method ${method}` }, method.toUpperCase()), ' ', path)));
    contents.append(h('details', { open: !narrow }, h('summary', {}, tag.name), h('ul', {}, links)));
    content.append(h('section', {}, h('h2', {}, tag.name),
      tag.description ? h('p', { class: 'soft' }, tag.description) : null, tag.operations.map(article)));
  }
  const events = cofferEvents.draw(narrow);
  contents.append(events.group);
  content.append(events.section);
}

/** Draws guides and glossary below the operations. */
function drawTexts() {
  document.getElementById('guides').replaceChildren(
    ...cofferTexts.guides.map(([name, title, about]) =>
      h('li', {}, h('a', { href: `/docs/guides/${name}` }, title), ' ', h('span', { class: 'soft' }, about))));
  document.getElementById('words').replaceChildren(
    ...cofferTexts.glossary.flatMap(([word, text]) => [h('dt', { id: `term-${cofferSearch.slug(word)}` }, word), h('dd', {}, text)]));
}

// --- Search -------------------------------------------------------------------------------------------

const matches = (pieces) => pieces.map(([text, isMatch]) => (isMatch ? h('mark', {}, text) : text));

/** The results, as the options of the search box. */
function showHits(groups) {
  const options = [];
  const option = ({ heading, kind, href, text }) => {
    options.push(h('a', { id: `hit-${options.length}`, href, role: 'option', tabindex: '-1', 'aria-selected': 'false' },
      h('span', { class: 'title' }, matches(heading)), ' ', h('span', { class: 'soft' }, kind),
      h('span', { class: 'snippet' }, matches(text))));
    return options.at(-1);
  };
  const place = document.getElementById('hits');
  place.replaceChildren(...groups.map(({ title, hits }, i) =>
    h('div', { role: 'group', 'aria-labelledby': `hits-${i}` }, h('div', { id: `hits-${i}`, class: 'soft' }, title), hits.map(option))));
  place.hidden = options.length === 0;
  return options;
}

function listen() {
  const box = document.getElementById('search');
  const offers = document.getElementById('offers');
  let options = [];
  let chosen = -1;
  let turn = 0;

  const choose = (at) => {
    options[chosen]?.setAttribute('aria-selected', 'false');
    chosen = at;
    box.setAttribute('aria-activedescendant', options[at]?.id || '');
    options[at]?.setAttribute('aria-selected', 'true');
    options[at]?.scrollIntoView({ block: 'nearest' });
  };
  const offer = (text) => h('button', { type: 'button', onclick: () => {
    box.value = text;
    box.focus();
    search();
  } }, text);
  async function search() {
    turn += 1;
    const mine = turn;
    const text = box.value.trim();
    const { groups, suggestions, failed } = text ? await cofferSearch.find(text).catch((error) => ({ failed: error.message })) : {};
    if (mine !== turn) return; // the text has changed
    options = showHits(groups || []);
    choose(-1);
    box.setAttribute('aria-expanded', String(options.length > 0));
    const count = options.length === 1 ? '1 result' : `${options.length || 'No'} results`;
    const said = failed ? `The search failed: ${failed}. Type again to repeat it.` : `${count} for "${text}"`;
    document.getElementById('found').textContent = text ? said : '';
    offers.replaceChildren(...(suggestions?.length > 0 ? ['Search for ', ...suggestions.map(offer)] : []));
  }

  box.addEventListener('input', search);
  box.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      box.value = '';
      search();
    } else if (options.length > 0 && ['ArrowDown', 'ArrowUp'].includes(event.key)) {
      event.preventDefault(); // the cursor stays in the text
      const step = event.key === 'ArrowDown' ? 1 : -1;
      choose(chosen < 0 && step < 0 ? options.length - 1 : (chosen + step + options.length) % options.length);
    } else if (event.key === 'Enter') {
      options[Math.max(chosen, 0)]?.click();
    }
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
    if (['INPUT', 'TEXTAREA'].includes(document.activeElement?.tagName)) return;
    event.preventDefault();
    box.focus();
  });
}

async function start() {
  const loading = document.getElementById('loading');
  try {
    const response = await fetch('/v1/openapi.json');
    if (!response.ok) throw new Error(`the server responded ${response.status}`);
    openapi = await response.json();
  } catch (error) {
    loading.append(` Loading failed: ${error.message}. Reload the page to try again.`);
    return;
  }
  document.getElementById('version').textContent = openapi.info.version;
  drawTexts();
  draw();
  listen();
  if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
}

start();
