// Messages beside the data: errors with their request ID, notes, empty states.
import { copyButton, h } from './dom.js';
import { S } from './strings.js';

/** An error with its request ID, by which the operator finds it in the log. */
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
        fault.fields.map((field) => h('li', {}, field.message)),
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

/** The note of a command, without its surrounding line breaks. */
export function note(text) {
  return h('p', { class: 'notice' }, text.trim());
}

/** An empty state: that there is no data, and the next step. */
export function empty(text, ...next) {
  return h('div', { class: 'empty' }, h('p', {}, text), next.length > 0 && h('p', { class: 'soft' }, next));
}

/** In place of a screen whose command is not available to this operator. */
export function notBuilt(command) {
  return empty(
    S.common.notOffered,
    S.common.notOfferedWhy,
    h('code', {}, `coffer ${command}`),
    '.',
  );
}

const TOAST_MS = 6000;

/** Shows a short confirmation and announces it to screen readers. */
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
