// One thing: its members in a list, and lists inside it as tables.
import { copyButton, h } from './dom.js';
import { assetsShown, isId, label, valueNode } from './format.js';
import { qrCode } from './qr.js';
import { table } from './table.js';

const SECRETS = new Set([
  'clientSecret',
  'apiKey',
  'connectSecret',
  'signInSecret',
  'secretSeed',
  'secret',
  'signingSecret',
  'password',
  'otpauthUri',
  'link',
  'token',
]);

export const isSecret = (key) => SECRETS.has(key);
export const hasSecret = (record) => Object.keys(record).some((key) => isSecret(key) && record[key]);

/** A secret that is shown once: as text, to copy, and for an authenticator as a picture. */
function secretNode(key, value) {
  return h(
    'div',
    { class: 'secret' },
    key === 'otpauthUri' && qrCode(value),
    h('code', { class: 'secret-text' }, value),
    copyButton(value, label(key)),
  );
}

function copyable(key, value) {
  return isId(value) || /(Key|Address|Hash|accountNumber|^id|Id|clientId)$/.test(key);
}

function memberNode(record, key) {
  const value = record[key];
  if (isSecret(key) && value) return secretNode(key, value);
  const node = valueNode(key, value, record, true);
  const copies = typeof value === 'string' && value !== '' && copyable(key, value);
  return copies ? [node, ' ', copyButton(value, label(key))] : node;
}

const isList = (value) => Array.isArray(value);
const isRecord = (value) => value !== null && typeof value === 'object' && !isList(value);

/** The plain members, as terms and descriptions. */
export function members(record, { leaveOut = [] } = {}) {
  const beside = assetsShown([record], Object.keys(record));
  const keys = Object.keys(record).filter(
    (key) => !isList(record[key]) && !isRecord(record[key]) && !leaveOut.includes(key) && !beside.has(key),
  );
  return h(
    'dl',
    { class: 'members' },
    keys.map((key) => h('div', {}, h('dt', {}, label(key)), h('dd', {}, memberNode(record, key)))),
  );
}

/** The lists and records inside, each under its name. */
export function inside(record, { leaveOut = [], titles = {}, level = 2 } = {}) {
  return Object.keys(record)
    .filter((key) => (isList(record[key]) || isRecord(record[key])) && !leaveOut.includes(key))
    .map((key) => {
      const value = record[key];
      const title = titles[key] || label(key);
      return h(
        'section',
        { class: 'panel' },
        h(`h${level}`, {}, title),
        isRecord(value) ? members(value) : listOf(value, title),
      );
    });
}

function listOf(value, title) {
  if (value.length === 0) return h('p', { class: 'soft' }, 'None.');
  if (isRecord(value[0])) return table({ caption: title, rows: value });
  return h(
    'ul',
    {},
    value.map((each) => h('li', {}, String(each))),
  );
}

/** Whatever a command answered. */
export function answerNode(answer, caption = 'Answer') {
  const { data, columns } = answer;
  if (isList(data)) {
    return data.length === 0
      ? h('p', { class: 'soft' }, 'Nothing to show.')
      : table({ caption, rows: data, columns });
  }
  return h('div', {}, members(data), inside(data, { level: 3 }));
}
