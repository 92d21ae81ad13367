// Several rows of a list: which are chosen, and the commands that run on each of them.
import { dialog } from './action.js';
import { h, quiet, replace } from './dom.js';
import { field, valuesOf } from './form.js';
import { S } from './strings.js';
import { manyVerbs } from './verbs.js';
import { act, spoken } from './wire.js';

const B = S.bulk;

/** The chosen rows of a list, by key. */
export class Chosen {
  keys = new Set();

  /** The chosen ones of these rows; forgets rows that are no longer shown. */
  of(rows, keyOf) {
    const shown = new Set(rows.map(keyOf));
    for (const key of this.keys) if (!shown.has(key)) this.keys.delete(key);
    return rows.filter((row) => this.keys.has(keyOf(row)));
  }

  set(keys, chosen) {
    for (const key of keys) {
      if (chosen) this.keys.add(key);
      else this.keys.delete(key);
    }
  }
}

/** The result of the command for one row, replaced as it changes. */
function resultRow(name) {
  const state = h('span', { class: 'soft' }, B.waiting);
  return {
    node: h('li', { class: 'row between' }, h('span', {}, name), state),
    say: (text, tone) => replace(state, h('span', { class: `badge ${tone}` }, text)),
  };
}

/** Runs the command for one row after the other. A failure does not stop the others. */
async function runAll(command, items, values, stopped) {
  const went = { done: 0, failed: 0, waits: 0, unknown: 0 };
  for (const { row, fixed, line } of items) {
    if (stopped()) break;
    line.say(B.running, 'busy');
    try {
      const result = await act(command, { ...values, ...fixed });
      const waits = Boolean(result && result.waits);
      went[waits ? 'waits' : 'done'] += 1;
      line.say(waits ? B.approval : B.done, waits ? 'warn' : 'good');
      row.chosen = false;
    } catch (fault) {
      went[fault.isUnknown ? 'unknown' : 'failed'] += 1;
      line.say([fault.isUnknown && B.unknown, fault.message, ...(fault.fields || []).map((each) => each.message)].filter(Boolean).join(' '), fault.isUnknown ? 'warn' : 'bad');
    }
  }
  return went;
}

/** The arguments that name a row. */
const fixedOf = (spec, row) => (spec.fixed ? spec.fixed(row) : { ID: row.id });

/** The dialog: rows, the values that all of them get, and the result of each row. */
function askMany({ verb, spec, rows, others, chosen, keyOf, again }) {
  const { command } = verb;
  const title = verb.title;
  const open = dialog(B.title(title, rows.length));
  const items = rows.map((row) => ({ row: { key: keyOf(row), chosen: true }, fixed: fixedOf(spec, row), line: resultRow(spec.about(row)) }));
  const summary = h('p', { role: 'status' });
  const wanted = command.arguments.filter((argument) => argument.kind !== 'positional' && !(argument.name in items[0].fixed));
  let stopped = false;
  const stop = (event) => {
    stopped = true; // after the present row, whose response the dialog waits for
    open.close(event);
  };
  const close = quiet(S.common.cancel, stop);
  const submit = h('button', { type: 'submit', class: verb.danger ? 'danger' : 'primary' }, B.button(title, rows.length));
  const form = h(
    'form',
    { class: 'stack' },
    h('p', {}, spoken(command.consequence || `${command.summary}.`, command.command)),
    wanted.map((argument) => field(argument, undefined, { hint: spoken(argument.help, command.command) })),
    h('ul', { class: 'plain bulk-rows', tabindex: 0, 'aria-label': B.rows }, items.map(({ line }) => line.node)),
    others.length > 0 && h('p', { class: 'soft' }, B.unfit(others.map(spec.about).join(', '))),
    summary,
    h('div', { class: 'row end' }, close, submit),
  );
  open.box.addEventListener('close', again);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    submit.hidden = true;
    form.setAttribute('aria-busy', 'true');
    close.textContent = B.stop;
    const values = valuesOf(form);
    for (const each of form.querySelectorAll('input, select, textarea')) each.disabled = true;
    const went = await runAll(command.command, items, values, () => stopped);
    form.removeAttribute('aria-busy');
    chosen.set(items.filter(({ row }) => !row.chosen).map(({ row }) => row.key), false);
    close.textContent = S.common.close;
    replace(summary, B.summary(went));
    close.focus();
  });
  open.box.append(form);
  form.querySelector('input, select, textarea, button[type=submit]').focus();
}

/**
 * The bar above a list while rows are chosen: their number, the commands that fit at least one of them, and a button
 * to choose none. `spec`: {noun, only, about(row), fixed(row): the arguments that name the row, if not its ID, titles}.
 */
export function bulkBar({ spec, chosen, rows, keyOf, again, redraw }) {
  const picked = chosen.of(rows, keyOf);
  if (picked.length === 0) return null;
  const none = () => {
    chosen.keys.clear();
    redraw();
  };
  return h(
    'div',
    { class: 'row bulk', role: 'group', 'aria-label': B.label },
    h('strong', { role: 'status' }, B.chosen(picked.length)),
    manyVerbs(spec.noun, spec).map((verb) => {
      const fit = picked.filter((row) => verb.fits(row.status));
      if (fit.length === 0) return null;
      const others = picked.filter((row) => !fit.includes(row));
      const run = () => askMany({ verb, spec, rows: fit, others, chosen, keyOf, again });
      const tone = verb.danger ? 'quiet danger-text' : 'quiet';
      return h('button', { type: 'button', class: tone, 'data-many': verb.command.command, onclick: run }, verb.title);
    }),
    quiet(B.none, none),
  );
}

/** Whether the operator may run a command on several rows of the list. */
export const hasBulk = (spec) => Boolean(spec) && manyVerbs(spec.noun, spec).length > 0;
