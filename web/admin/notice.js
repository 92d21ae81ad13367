// What is said beside the data: errors with their request id, notes, empty states.
import { copyButton, h } from './dom.js';
import { S } from './strings.js';

/** An error, so that the operator can find it in the log. */
export function errorBox(fault) {
  return h(
    'div',
    { class: 'notice bad', role: 'alert' },
    h(
      'p',
      {},
      h('strong', {}, fault.title && fault.title !== fault.message ? `${fault.title}. ` : ''),
      fault.message,
    ),
    fault.fields &&
      fault.fields.length > 0 &&
      h(
        'ul',
        {},
        fault.fields.map((field) => h('li', {}, h('code', {}, field.field), ` ${field.message}`)),
      ),
    fault.requestId &&
      h(
        'p',
        { class: 'soft small' },
        S.common.request,
        h('span', { class: 'id' }, fault.requestId),
        ' ',
        copyButton(fault.requestId, S.common.requestId),
      ),
  );
}

/** A command's note has line breaks of the terminal in it. */
export function note(text) {
  return h('p', { class: 'notice' }, text.trim());
}

/** Says that there is nothing, and what to do next. */
export function empty(text, ...next) {
  return h('div', { class: 'empty' }, h('p', {}, text), next.length > 0 && h('p', { class: 'soft' }, next));
}

/** Where a command is not there for this operator. */
export function notBuilt(command) {
  return empty(
    S.common.notOffered,
    S.common.notOfferedWhy,
    h('code', {}, `coffer ${command}`),
    '.',
  );
}

const TOAST_MS = 6000;

/** What was done, for a moment, and to a screen reader. */
export function toast(text, tone = 'good') {
  const place = document.getElementById('toasts');
  if (!place) return;
  const box = h(
    'div',
    { class: `toast ${tone}` },
    h('span', {}, text),
    h('button', { type: 'button', class: 'quiet', 'aria-label': S.common.close, onclick: () => box.remove() }, '×'),
  );
  place.append(box);
  setTimeout(() => box.remove(), TOAST_MS);
}
