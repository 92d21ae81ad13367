// The API reference at /docs of the release build, in a part of a browser: the page's scripts with the functions that they
// use. Shared by the tests docs*.mjs.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';

export const { baseUrl } = JSON.parse(process.env.COFFER_TEST);
const folder = fileURLToPath(new URL('../../web/docs', import.meta.url));
const html = readFileSync(join(folder, 'index.html'), 'utf8');
export const openapi = await (await fetch(`${baseUrl}/v1/openapi.json`)).json();
export const guideText = (name) => readFileSync(join(folder, '../../docs', name), 'utf8');

/** An element that is strict about its children, because a real one converts other values to text. */
export class Element {
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
  get id() {
    return this.attributes.id;
  }
  scrollIntoView() {
    Element.scrolledTo = this;
  }
  click() {
    Element.clicked = this.attributes.href;
    this.listeners.click?.({ currentTarget: this });
  }
  focus() {}
  *all(tag) {
    for (const child of this.children.filter((each) => each instanceof Element)) {
      if (child.tag === tag) yield child;
      yield* child.all(tag);
    }
  }
}

export const known = Object.fromEntries(
  [...html.matchAll(/<(\w+) [^>]*?id="(\w+)"/g)].map(([, tag, id]) => [id, new Element(tag)]),
);
let drawn;
const finished = new Promise((resolve) => {
  drawn = resolve;
});
export const browser = {
  document: {
    getElementById: (id) => {
      const found = known[id] ?? [...known.content.all('article')].find((each) => each.attributes.id === id);
      assert.ok(found, `element ${id} was not found`);
      return found;
    },
    createElement: (tag) => new Element(tag),
    addEventListener: () => {},
  },
  location: { origin: baseUrl, hash: '#createQuote' },
  matchMedia: () => ({ matches: false }),
  fetch: async (address) => {
    const guide = address.match(/^\/docs\/guides\/([\w-]+\.md)$/)?.[1];
    if (guide) return { ok: true, text: async () => guideText(guide) };
    assert.equal(address, '/v1/openapi.json');
    setTimeout(drawn, 0);
    return { ok: true, json: async () => openapi };
  },
  setTimeout,
};
browser.globalThis = browser;
vm.createContext(browser);
for (const [, file] of html.matchAll(/src="\/docs\/(\w+\.js)"/g)) {
  vm.runInContext(readFileSync(join(folder, file), 'utf8'), browser, { filename: file });
}
await finished;
await new Promise((resolve) => setTimeout(resolve, 0));


/** A constant of the page's scripts. */
export const constant = (name) => vm.runInContext(name, browser);
export const operations = Object.entries(openapi.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })));
export const articles = new Map([...known.content.all('article')].map((each) => [each.id, each]));
