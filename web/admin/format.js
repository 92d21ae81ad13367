// Formats values such as amounts, times, states and IDs by member name and value, so that members of new commands are
// formatted too.
import { h } from './dom.js';
import { S } from './strings.js';

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const DECIMAL = /^-?\d+(\.\d+)?$/;
const AMOUNT_KEY =
  /(amount|balance|available|held|fee|fees|volume|total|sum|liquidity|debit|credit|limit|rate|min|max)$/i;
const STATE_KEY = /^(status|state|outcome|health|level|severity|providerState)$/;

const WORD_KEY = /^(environment|role|type|direction|flow|method|driver|quota)$/;

const TONES = {
  good: 'succeeded verified active done sent delivered ok healthy recorded good accepted',
  bad: 'failed rejected fault dead oversize refund_failed down failing disabled unexpected-error bad',
  busy: 'processing initiated pending waiting refund_pending open begun',
  warn: 'suspended paused expired refunded partly_refunded warning invited without_authenticator degraded forbidden',
};

function toneOf(word) {
  const plain = String(word).toLowerCase().replaceAll(' ', '_');
  const found = Object.entries(TONES).find(([, words]) => words.split(' ').includes(plain));
  return found ? found[0] : 'plain';
}

/** The label of a status, the same on every screen. */
export function statusText(word) {
  const key = String(word).toLowerCase().replaceAll(' ', '_');
  if (Object.hasOwn(S.status, key)) return S.status[key];
  const text = key.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The label of a payment type. Other words get the label of a status. */
export const typeText = (word) => S.type[word] || statusText(word);
export const failureText = (code) => S.failure[code] || statusText(code);

export function badge(word, tone = toneOf(word)) {
  return h('span', { class: `badge ${tone}` }, statusText(word));
}

/** Tones of circuit breaker states. An open breaker blocks all calls. */
const BREAKER = { closed: 'good', open: 'bad', half_open: 'busy' };

/** The label of a name such as `sendingAmount` or `before-entry`. */
export function label(key) {
  if (Object.hasOwn(S.label, key)) return S.label[key];
  const words = String(key)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[ _-]+/)
    .map((word) => S.keep[word.toLowerCase()] || word.toLowerCase());
  // The value shows the unit.
  if (words.length > 1 && /^(seconds|bytes)$/.test(words[words.length - 1])) words.pop();
  const text = words.join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const DATE = { day: 'numeric', month: 'short' };
const MINUTES = { hour: '2-digit', minute: '2-digit', hour12: false };
const SECONDS = { ...MINUTES, second: '2-digit' };
const form = (...parts) => new Intl.DateTimeFormat(undefined, Object.assign({}, ...parts));

const CLOCK = form(SECONDS);
export const HOUR = form(MINUTES);
export const DAY = form(DATE);
export const FULL_DAY = form(DATE, { year: 'numeric' });
export const MOMENT = form(DATE, MINUTES, { weekday: 'short' });

export const isTime = (value) => typeof value === 'string' && ISO_TIME.test(value);
export const isId = (value) => typeof value === 'string' && UUID.test(value);
const isDecimal = (value) => typeof value === 'string' && DECIMAL.test(value);

const utc = (value) => S.common.utc(value.replace('T', ' ').replace(/Z$/, ''));

const EXACT = form(DATE, SECONDS, { year: 'numeric', timeZoneName: 'short' });

/** Date, time and zone, for pages about single objects and for print. */
export function exactTime(value) {
  return h('time', { datetime: value, title: utc(value), class: 'number' }, EXACT.format(new Date(value)));
}

/** The browser's time zone: name and offset. */
export function zone() {
  const offset = new Intl.DateTimeFormat('en', { timeZoneName: 'longOffset' })
    .formatToParts(new Date())
    .find(({ type }) => type === 'timeZoneName');
  return [Intl.DateTimeFormat().resolvedOptions().timeZone, offset ? offset.value : ''];
}

let aheadMs = 0;

/** The server's time: that of a demo can be ahead, and this machine's clock may be wrong. */
export const now = () => new Date(Date.now() + aheadMs);

/** Takes over the server's time, an RFC 3339 text. */
export function synchronise(text) {
  const ms = new Date(text).getTime() - Date.now();
  // The response was in transit, so smaller differences are no difference.
  if (Math.abs(ms - aheadMs) > 2000) aheadMs = ms;
}

/** A time in the browser's time zone, with UTC on hover. */
export function time(value) {
  const at = new Date(value);
  const today = at.toDateString() === now().toDateString();
  const day = at.getFullYear() === now().getFullYear() ? DAY.format(at) : FULL_DAY.format(at);
  return h(
    'time',
    { datetime: value, title: utc(value), class: 'number' },
    today ? CLOCK.format(at) : `${day}, ${CLOCK.format(at)}`,
  );
}

const AGES = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
];

/** A duration such as `3 h 12 min`, limited to the `most` largest units. */
function duration(seconds, most = 2) {
  let rest = Math.max(0, Math.round(seconds));
  const parts = [];
  for (const [size, unit] of AGES) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(S.common.units[unit](count));
    if (parts.length === most) break;
  }
  return parts.join(' ') || S.common.units.second(0);
}

function relative(value, text) {
  return h('time', { datetime: value, title: utc(value) }, text);
}

const secondsSince = (value) => (now().getTime() - new Date(value).getTime()) / 1000;

/** `3 h ago`, for past times, even if this machine's clock is behind the server's. */
export const ago = (value) => relative(value, S.common.ago(duration(secondsSince(value), 1)));

/** `5 days`, for sentences. */
export function inWords(seconds) {
  const [size, unit] = AGES.find(([each]) => seconds >= each) || AGES.at(-1);
  const count = Math.max(0, Math.floor(seconds / size));
  return S.common.counted[unit](count);
}

/** A sentence about the age of a time: `say('5 days')`. */
export const since = (value, say) => relative(value, say(inWords(secondsSince(value))));

/** `in 4 min`, for times at which something is due. */
export const due = (value) => relative(value, S.common.in(duration(-secondsSince(value), 1)));

export function bytes(count) {
  const units = S.common.bytes;
  let value = Number(count);
  let unit = 0;
  while (value >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    unit += 1;
  }
  return h(
    'span',
    { class: 'number', title: S.common.bytesTitle(count) },
    `${unit === 0 ? value : value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${units[unit]}`,
  );
}

const WHOLE = new Intl.NumberFormat(undefined, { numberingSystem: 'latn' });

/** The decimal separator of the reader's locale. */
export const POINT = WHOLE.formatToParts(1.5).find(({ type }) => type === 'decimal').value;

/** A decimal text in the smallest unit of an amount, for exact comparisons. */
export const units = (text) => {
  const [whole, places = ''] = text.split('.');
  return BigInt(whole + places.padEnd(7, '0').slice(0, 7));
};

/** The reverse of `units`, with the decimal places of another amount. */
export function ofUnits(count, like) {
  const [, places = ''] = String(like).split('.');
  const digits = String(count).padStart(8, '0');
  const exact = digits.slice(-7).replace(/0+$/, '').padEnd(places.length, '0');
  return digits.slice(0, -7) + (exact && `.${exact}`);
}

/** A decimal text as the reader's locale writes it, with all of its digits: never converted to floating point. */
export function localised(text) {
  const [, sign, whole, places] = /^(-?)(\d+)(?:\.(\d*))?$/.exec(text) || [];
  if (!whole) return text;
  return `${sign}${WHOLE.format(BigInt(whole))}${places ? POINT + places : ''}`;
}

export function number(value) {
  const text = String(value);
  return h('span', { class: 'number', 'data-value': text }, localised(text));
}

/** Copies a single number in the form that commands and the API take, without separators of thousands. */
export function copyPlainly(event) {
  const selection = document.getSelection();
  const node = selection.anchorNode;
  const start = node instanceof Element ? node : node && node.parentElement;
  const own = start && start.closest('.number[data-value]');
  if (!own || selection.toString().trim() !== own.textContent) return;
  event.clipboardData.setData('text/plain', own.dataset.value);
  event.preventDefault();
}

/** An amount exactly as coffer wrote it, never converted to floating point, with its asset. */
export function amount(value, asset) {
  if (value === null || value === undefined) return dash();
  return h(
    'span',
    { class: 'amount' },
    number(value),
    asset && [' ', h('span', { class: 'asset' }, asset)],
  );
}

const dash = () => h('span', { class: 'soft' }, '–');

/** The screen that an ID member links to. */
const PLACES = {
  walletId: 'wallets',
  sourceWalletId: 'wallets',
  destinationWalletId: 'wallets',
  beneficiaryId: 'beneficiaries',
  connectorId: 'connectors',
  transactionRecordId: 'payments',
  eventId: 'events',
  webhookId: 'webhooks',
  associationId: 'associations',
  applicationId: 'applications',
};

export function placeOf(key, value) {
  const noun = PLACES[key];
  return noun && value ? `#/${noun}/${encodeURIComponent(value)}` : undefined;
}

/** Shows `*****0077` with a fixed number of dots for the masked part. */
export function account(masked) {
  if (!masked) return null;
  const shown = masked.replace(/^\*+/, '');
  return h('span', { class: 'account number', title: masked }, shown === masked ? masked : `•••• ${shown}`);
}

/** An ID shortened for tables. The full ID appears on hover. */
export function id(value, href, whole = false) {
  const text = !whole && isId(value) ? `${value.slice(0, 8)}…${value.slice(-6)}` : String(value);
  const attributes = { class: 'id', title: value };
  return href ? h('a', { ...attributes, href }, text) : h('span', attributes, text);
}

/** The asset of an amount: `sendingAssetCode` for `sendingAmount`, `assetCode` for `balance`. */
const STEMS = /Amount$/;
export function assetBeside(record, key) {
  return record[assetKey(record, key)];
}

/** The name of the member with an amount's asset. Fees and totals are in the sending asset. */
function assetKey(record, key) {
  const stem = key.replace(/^min([A-Z])/, (_, first) => first.toLowerCase()).replace(STEMS, '');
  const names = [`${stem}AssetCode`, 'assetCode'];
  if (/^(fee|total)$/.test(key)) names.push('sendingAssetCode', 'sendAssetCode');
  return names.find((name) => typeof record[name] === 'string');
}

/** Asset members that are already shown beside their amounts. */
export function assetsShown(records, keys) {
  const out = new Set();
  for (const key of keys) {
    const record = records.find((each) => isDecimal(each[key]) && AMOUNT_KEY.test(key));
    if (record && !/rate$/i.test(key)) out.add(assetKey(record, key));
  }
  return out;
}

export const isNumeric = (key, value) =>
  typeof value === 'number' || (isDecimal(value) && AMOUNT_KEY.test(key));

/** Indents JSON; returns other text unchanged. */
export function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Shows JSON inside a text value as names and values. */
function jsonText(value) {
  if (!/^[{[]/.test(value)) return undefined;
  try {
    const parsed = JSON.parse(value);
    const entries = Object.entries(parsed);
    if (entries.length === 0) return dash();
    return h(
      'span',
      { class: 'pairs' },
      entries.map(([key, each]) =>
        h(
          'span',
          {},
          h('span', { class: 'soft' }, `${key} `),
          typeof each === 'object' ? JSON.stringify(each) : String(each),
        ),
      ),
    );
  } catch {
    return undefined;
  }
}

function scalarNode(key, value, record, whole) {
  if (value === null || value === undefined || value === '') return dash();
  if (typeof value === 'boolean') return value ? S.common.yes : S.common.no;
  if (/bytes$/i.test(key) && typeof value === 'number') return bytes(value);
  if (/seconds$/i.test(key) && typeof value === 'number') return duration(value);
  if (WORD_KEY.test(key) && Object.hasOwn(S.word, value)) return S.word[value];
  if (key === 'usedPercent' || key === 'successRate') return h('span', { class: 'number' }, S.common.percent(value));
  if (key === 'breaker') return badge(value, BREAKER[value]);
  if (key === 'durationMs') return h('span', { class: 'number' }, S.common.ms(value));
  if (typeof value === 'number') return number(value);
  if (isTime(value)) return whole ? exactTime(value) : time(value);
  if (key === 'type' && S.type[value]) return S.type[value];
  if (key === 'failureCode') return failureText(value);
  if (STATE_KEY.test(key) && /^[\w -]{1,24}$/.test(value)) return badge(value);
  if (isDecimal(value) && AMOUNT_KEY.test(key)) {
    const shown = amount(value, /rate$/i.test(key) ? undefined : assetBeside(record, key));
    if (key === 'amount' && value.startsWith('-')) shown.classList.add('negative'); // a debit
    return shown;
  }
  if (isId(value)) return id(value, placeOf(key, value));
  return jsonText(value) || String(value);
}

/** A value other than a list, for a table or, with `whole`, for a page about a single object. */
export function valueNode(key, value, record = {}, whole = false) {
  return scalarNode(key, value, record, whole);
}
