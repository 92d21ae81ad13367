// Shows a record: its members as a list, and the lists in it as tables.
import { copyButton, download, h, quiet } from './dom.js';
import { assetsShown, isId, label, valueNode } from './format.js';
import { qrCode } from './qr.js';
import { S } from './strings.js';
import { table } from './table.js';
import { session } from './wire.js';

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

const isSecret = (key) => SECRETS.has(key);
export const hasSecret = (record) => Object.keys(record).some((key) => isSecret(key) && record[key]);

/** A secret that is shown once: text with a copy button, and a QR code for an authenticator. */
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

/** A description list of [term, ...description]. */
export function terms(pairs) {
  return h(
    'dl',
    { class: 'members' },
    pairs.map(([name, ...value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
  );
}

const isGiven = (value) => value !== null && value !== '' && !Array.isArray(value);

/** The members of a record that have a value and are not lists. */
export function members(record, { leaveOut = [] } = {}) {
  const beside = assetsShown([record], Object.keys(record));
  const keys = Object.keys(record).filter(
    (key) => isGiven(record[key]) && !leaveOut.includes(key) && !beside.has(key),
  );
  return terms(keys.map((key) => [label(key), memberNode(record, key)]));
}

/** Whether the rows are {name, value} pairs, whose names come from outside. */
const isPairs = (rows) => Object.keys(rows[0]).join() === 'name,value';

/** A collapsed section for rarely needed content. */
export function folded(title, ...content) {
  return h('details', { class: 'panel folded' }, h('summary', {}, title), content);
}

/** A list in a section with a title. `none` is the text of an empty list. */
export function panel(title, rows, { none = S.common.none, level = 2, ...spec } = {}) {
  let content;
  if (rows.length === 0) content = h('p', { class: 'soft' }, none);
  else if (isPairs(rows)) content = terms(rows.map(({ name, value }) => [label(name), value]));
  else content = table({ caption: title, rows, ...spec });
  return h('section', { class: 'panel' }, h(`h${level}`, {}, title), content);
}

/** The members of the rows of a list without the ID, which only programs need. */
const withoutId = (rows) => rows.length > 0 && Object.keys(rows[0]).filter((key) => key !== 'id');

/** The lists in a record, each in its section. */
export function inside(record, { leaveOut = [], level } = {}) {
  return Object.keys(record)
    .filter((key) => Array.isArray(record[key]) && !leaveOut.includes(key))
    .map((key) => panel(label(key), record[key], { level, columns: withoutId(record[key]) }));
}

/** Converts `clientSecret` to `CLIENT_SECRET`. The prefix COFFER_ belongs to the settings of the server. */
const envName = (key) => key.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase();

/** Members that the downloaded file contains besides the secrets. */
const WITH_SECRETS = ['clientId', 'publicKey', 'associationId', 'environment', 'url', 'username', 'name'];

function envText(record) {
  const keys = Object.keys(record).filter(
    (key) => (isSecret(key) || WITH_SECRETS.includes(key)) && typeof record[key] === 'string' && record[key],
  );
  const pairs = [['BASE_URL', session.operator.apiUrl], ...keys.map((key) => [envName(key), record[key]])];
  return pairs.map(([name, value]) => `${name}='${value.replaceAll("'", "'\\''")}'\n`).join('');
}

/** Secrets that are shown once, with buttons to copy or download all of them. The other members are collapsed. */
export function secretsNode(record, rest) {
  const keys = Object.keys(record).filter((key) => isSecret(key) && record[key]);
  const text = keys.map((key) => `${label(key)}: ${record[key]}`).join('\n');
  const save = () => download(`${record.name || 'coffer'}.env`, 'text/plain', envText(record));
  return [
    h(
      'div',
      { class: 'row above' },
      copyButton(text, S.common.allSecrets, S.common.copyAll),
      quiet(S.common.saveEnv, save),
    ),
    terms(keys.map((key) => [label(key), secretNode(key, record[key])])),
    folded(S.common.details, rest),
  ];
}

/** The result of a command. */
export function resultNode(result, caption = S.common.result) {
  const { data, columns } = result;
  if (!Array.isArray(data)) {
    const plain = members(data, { leaveOut: hasSecret(data) ? [...SECRETS] : [] });
    const rest = [plain, inside(data, { level: 3 })];
    return h('div', {}, hasSecret(data) ? secretsNode(data, rest) : rest);
  }
  if (data.length === 0) return h('p', { class: 'soft' }, S.common.nothingToShow);
  return table({ caption, rows: data, columns });
}
