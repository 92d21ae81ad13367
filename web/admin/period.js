// Periods of time by name, such as `7d` or `2026-11`. A saved view keeps the name, so `today` stays today.
import { freshId, h } from './dom.js';
import { FULL_DAY, now } from './format.js';
import { S } from './strings.js';

const P = S.period;

export const PRESETS = ['today', 'yesterday', '7d', '30d', 'month', 'last-month'];
const MONTHS = 12;

const MONTH = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric' });

/** `2026-11`, or `2026-11-22` with a day. */
export function nameOfDate(year, month, day) {
  return [String(year).padStart(4, '0'), month, day]
    .filter((part) => part !== undefined)
    .map((part) => String(part).padStart(2, '0'))
    .join('-');
}

/** [start, end], the end exclusive, in the browser's time zone; undefined for an unknown name. */
function limits(period) {
  const today = now();
  const [year, month, day] = [today.getFullYear(), today.getMonth(), today.getDate()];
  const [, days] = /^(\d{1,3})d$/.exec(period) || [];
  const [, y, m, d] = /^(\d{4})-(\d\d)(?:-(\d\d))?$/.exec(period) || [];
  if (period === 'today') return [new Date(year, month, day)];
  if (period === 'yesterday') return [new Date(year, month, day - 1), new Date(year, month, day)];
  if (period === 'month') return [new Date(year, month, 1)];
  if (period === 'last-month') return [new Date(year, month - 1, 1), new Date(year, month, 1)];
  if (days) return [new Date(year, month, day - Number(days) + 1)];
  if (d) return [new Date(y, m - 1, d), new Date(y, m - 1, Number(d) + 1)];
  return y ? [new Date(y, m - 1, 1), new Date(y, m, 1)] : undefined;
}

/** {from, to} as commands take them. A period that has not ended has no `to`. */
export function rangeOf(period) {
  const [from, to] = limits(period) || [];
  return { from: from && from.toISOString(), to: to && to.toISOString() };
}

export function periodText(period) {
  if (P[period]) return P[period];
  const [start] = limits(period) || [];
  return start ? (period.length > 7 ? FULL_DAY : MONTH).format(start) : period;
}

/** The names of the months before this one, the latest first. */
function months() {
  const today = now();
  return Array.from({ length: MONTHS }, (_, i) => {
    const at = new Date(today.getFullYear(), today.getMonth() - 2 - i, 1);
    return nameOfDate(at.getFullYear(), at.getMonth() + 1);
  });
}

/**
 * A choice of presets and months. `present` is the chosen period, '' for none. `own`: whether dates are chosen instead,
 * and `dates()` lets the operator choose them.
 */
export function periodSelect({ present = '', any = P.any, own = false, dates, apply }) {
  const option = (value, text) => h('option', { value, selected: value === present }, text);
  const named = [...PRESETS, ...months()];
  const select = h(
    'select',
    { id: freshId('period'), name: 'period', 'aria-label': P.label },
    option('', own ? P.own : any),
    PRESETS.map((each) => option(each, periodText(each))),
    h('optgroup', { label: P.months }, months().map((each) => option(each, periodText(each)))),
    present && !named.includes(present) && option(present, periodText(present)),
    dates && option('dates', P.dates),
  );
  select.addEventListener('change', () => {
    const { value } = select;
    if (value !== 'dates') {
      apply(value || undefined);
      return;
    }
    select.value = present;
    dates();
  });
  return select;
}
