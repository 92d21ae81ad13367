// Reads what people type into a search field: amounts and dates as their locale writes them, statuses by their label.
import { POINT, failureText, now, statusText } from './format.js';
import { nameOfDate } from './period.js';
import { S } from './strings.js';

const WORDS_MAX = 4; // of one amount or date: `1 348 000,50`, `22 November 2026`
const LETTERS_MIN = 3;

// --- Amounts

/** Whether dots or commas in `text` stand between thousands: those that are not the locale's decimal separator. */
const areGroups = (text, mark) =>
  (mark !== POINT || text.split(mark).length > 2) && /^\d{1,3}(?:[.,]\d{2,3})*[.,]\d{3}$/.test(text);

const GROUPED = new Intl.NumberFormat(undefined, { numberingSystem: 'latn', useGrouping: 'always' });

/** Only what the locale itself writes. */
function readExactly(plain) {
  const [head, places, ...more] = plain.split(POINT);
  if (more.length > 0 || !/^\d[\d.,]*$/.test(head) || (places !== undefined && !/^\d+$/.test(places))) return undefined;
  const whole = BigInt(head.replace(/\D/g, ''));
  if (/\D/.test(head) && GROUPED.format(whole) !== head) return undefined;
  return places ? `${whole}.${places}` : String(whole);
}

/**
 * `1.348,50` as `1348.50`; undefined if the text is not an amount. Blanks and apostrophes only group. A search may guess:
 * `1,5` can only be a decimal. With `exactly`, as in forms, whatever the locale would not write is refused.
 */
export function readAmount(text, exactly = false) {
  const plain = text.trim().replace(/(?<=\d)[\s'’](?=\d{3}(?!\d))/g, '');
  if (exactly) return readExactly(plain);
  if (!/^\d[\d.,]*$/.test(plain)) return undefined;
  const last = Math.max(plain.lastIndexOf('.'), plain.lastIndexOf(','));
  const mark = plain[last];
  const both = plain.includes('.') && plain.includes(',');
  let [whole, places] = [plain, ''];
  if (last >= 0 && (both || !areGroups(plain, mark))) {
    [whole, places] = [plain.slice(0, last), plain.slice(last + 1)];
    if (whole.includes(mark)) return undefined;
  }
  if (/[.,]/.test(whole) && !/^\d{1,3}(?:[.,]\d{2,3})*[.,]\d{3}$/.test(whole)) return undefined;
  whole = whole.replace(/[.,]/g, '').replace(/^0+(?=\d)/, '');
  if (whole.length > 11 || places.length > 7 || !/[1-9]/.test(whole + places)) return undefined;
  return places ? `${whole}.${places}` : whole;
}

// --- Dates

/** `day`, `month` and `year` in the order of the locale. */
const ORDER = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'numeric', year: 'numeric' })
  .formatToParts(0)
  .map(({ type }) => type)
  .filter((type) => ['day', 'month', 'year'].includes(type));

/** The number of the month whose name, in the locale or in English, begins with the word. */
function monthOf(word) {
  const plain = word.toLowerCase().replace(/\.$/, '');
  if (!/^\p{L}{3,}$/u.test(plain)) return undefined;
  for (const locale of [undefined, 'en']) {
    const name = new Intl.DateTimeFormat(locale, { month: 'long' });
    for (let month = 0; month < 12; month += 1) {
      if (name.format(new Date(2026, month, 15)).toLowerCase().startsWith(plain)) return month + 1;
    }
  }
  return undefined;
}

function dated({ year, month, day }) {
  const full = year.length === 2 ? `20${year}` : year;
  const at = new Date(full, month - 1, day);
  const exists = at.getMonth() === month - 1 && at.getDate() === Number(day);
  return exists ? nameOfDate(full, Number(month), Number(day)) : undefined;
}

/** Without a year, the latest such month or day that has begun. */
function latest(month, day) {
  const today = now();
  const later = new Date(today.getFullYear(), month - 1, day || 1) > today;
  const year = String(today.getFullYear() - (later ? 1 : 0));
  return day ? dated({ year, month, day }) : nameOfDate(year, month);
}

function readNamedMonth(words) {
  const at = words.findIndex(monthOf);
  if (at < 0 || words.length > 3) return undefined;
  const month = monthOf(words[at]);
  const others = words.filter((_, i) => i !== at).map((word) => word.replace(/[.,]$|(?<=\d)(st|nd|rd|th)$/, ''));
  const year = others.find((word) => /^20\d\d$/.test(word));
  const day = others.find((word) => /^([1-9]|[12]\d|3[01])$/.test(word));
  if (others.length !== (year ? 1 : 0) + (day ? 1 : 0)) return undefined;
  if (!year) return latest(month, day && Number(day));
  return day ? dated({ year, month, day }) : nameOfDate(year, month);
}

/** The name of a period (period.js); undefined for another text. */
export function readPeriod(text) {
  const plain = text.toLowerCase();
  const known = Object.entries(S.period).find(([, name]) => name.toLowerCase() === plain);
  if (known && !['any', 'own', 'dates', 'label', 'months'].includes(known[0])) return known[0];
  if (/^20\d\d-(0[1-9]|1[0-2])$/.test(text)) return text;
  const [, year, month, day] = /^(20\d\d)-(\d\d)-(\d\d)$/.exec(text) || [];
  if (year) return dated({ year, month, day });
  const numbers = text.split(/[./-]/);
  if (numbers.length === 3 && numbers.every((each) => /^\d{1,4}$/.test(each))) {
    const date = Object.fromEntries(ORDER.map((part, i) => [part, numbers[i]]));
    return /^(20)?\d\d$/.test(date.year) ? dated(date) : undefined;
  }
  return readNamedMonth(text.split(' '));
}

// --- Statuses and reasons

/** The words of a choice whose label has the text, or a word that begins with it. */
function readChoices(argument, text, say) {
  const plain = text.toLowerCase().replaceAll('_', ' ');
  if (!argument || plain.length < LETTERS_MIN || !/^\p{L}[\p{L} ]*$/u.test(plain)) return [];
  const all = argument.placeholder.split('|');
  const names = (word) => [say(word).toLowerCase(), word.toLowerCase().replaceAll('_', ' ')];
  const same = all.filter((word) => names(word).includes(plain));
  if (same.length > 0) return same;
  return all.filter((word) => names(word).some((name) => ` ${name}`.includes(` ${plain}`)));
}

// --- A whole text

const READERS = [
  ['amount', (text, { amount }) => amount && readAmount(text)],
  ['period', (text, { from }) => from && readPeriod(text)],
  ['statuses', (text, { status }) => readChoices(status, text, statusText)],
  ['failures', (text, { failure }) => readChoices(failure, text, failureText)],
];

const isEmpty = (value) => value === undefined || value.length === 0;

function readNext(words, usable, out) {
  for (let count = Math.min(WORDS_MAX, words.length); count > 0; count -= 1) {
    for (const [kind, reader] of READERS) {
      const value = kind in out ? undefined : reader(words.slice(0, count).join(' '), usable);
      if (!isEmpty(value)) return { kind, value, count };
    }
  }
  // The asset beside an amount: the search compares amounts in any unit.
  return /^[A-Z][A-Z0-9]{1,11}$/.test(words[0]) ? { count: 1 } : undefined;
}

/**
 * A text as filters of a command with these arguments: {amount, period, statuses, failures}, where a text such as
 * `refund` stands for several statuses. undefined if a word is not understood.
 */
export function readSearch(text, args) {
  const usable = Object.fromEntries(args.map((argument) => [argument.name, argument]));
  const words = text.trim().split(/\s+/);
  const out = {};
  for (let at = 0; at < words.length; ) {
    const found = readNext(words.slice(at), usable, out);
    if (!found) return undefined;
    if (found.kind) out[found.kind] = found.value;
    at += found.count;
  }
  return Object.keys(out).length > 0 ? out : undefined;
}

/** The filters for one list each: one for each status and for each reason that a search stands for. */
export function filtersOfSearch({ amount, period, statuses = [], failures = [] }) {
  const shared = { amount, period };
  const each = [
    ...statuses.map((status) => ({ ...shared, status })),
    // A status that a word names is more likely meant than a reason.
    ...(statuses.length > 0 ? [] : failures.map((failure) => ({ ...shared, failure }))),
  ];
  return each.length > 0 ? each : [shared];
}
