// Builds the page. All data from the server becomes text nodes, so it cannot contain markup.
import { S } from './strings.js';

const SVG = 'http://www.w3.org/2000/svg';

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...nodes(children));
  return element;
}

/** Flattens nested lists, drops undefined, null and false, and converts other values to text nodes. */
export function nodes(children) {
  return [children]
    .flat(Infinity)
    .filter((child) => child !== undefined && child !== null && child !== false)
    .map((child) => (child instanceof Node ? child : document.createTextNode(String(child))));
}

/** An element with attributes (`class`, `href`, ...; `on...` is a listener) and children. */
export function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** A button that does not submit its form. */
export const quiet = (text, press) => h('button', { type: 'button', class: 'quiet', onclick: press }, text);

/** An SVG element, with the same parameters. */
export function s(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

export function replace(element, ...children) {
  element.replaceChildren(...nodes(children));
}

let lastId = 0;
/** An element ID that is unique on the page. */
export function freshId(stem) {
  lastId += 1;
  return `${stem}-${lastId}`;
}

/** Announces a text to screen readers without a visible change. */
export function announce(text) {
  const place = document.getElementById('announcer');
  if (place) place.textContent = text;
}

/** A button that copies a text to the clipboard and confirms it in its label. */
export function copyButton(text, what, said = S.common.copy) {
  const button = h('button', { type: 'button', class: 'quiet copy', 'aria-label': S.common.copyOf(what) }, said);
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = S.common.copied;
    } catch {
      button.textContent = S.common.copyByHand; // the clipboard requires TLS
    }
    announce(`${what}: ${button.textContent}`);
    setTimeout(() => {
      button.textContent = said;
    }, 2000);
  });
  return button;
}

function follow(href, name) {
  const link = h('a', { href, download: name });
  document.body.append(link);
  link.click();
  link.remove();
}

/** Downloads a text as a file. */
export function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  follow(url, name);
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Downloads the file that a command has produced. The browser writes it to disk as it arrives. */
export const save = ({ download: place, file }) => follow(`api/${place}`, file);
