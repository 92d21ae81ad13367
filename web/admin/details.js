// A screen about a single object.
import { h, replace } from './dom.js';
import { heading } from './list.js';
import { isId } from './format.js';
import { live } from './live.js';
import { errorBox, notBuilt } from './notice.js';
import { folded, inside, members, terms } from './record.js';
import { S } from './strings.js';
import { can, read, Rejected } from './wire.js';

/** Reads the object with `command`. If `listed` is set, `command` is a list, and the result is its row. */
async function look({ command, ID, listed, values }, signal) {
  if (!listed) return (await read(command, { ID, ...values }, signal)).data;
  const { data } = await read(command, {}, signal);
  const row = data.find(({ id }) => id === ID);
  if (!row) throw new Rejected({ title: S.common.notFoundTitle, detail: S.common.notFoundDetail });
  return row;
}

/**
 * {back: {href, text}, command, ID, values: further arguments, listed, seconds: refresh interval (0: read once),
 * title(record), intro(record), actions(record, again), body(record, again), below: nodes that are not redrawn}.
 */
export function details(context, spec) {
  const place = h('div', {}, h('p', { class: 'soft', role: 'status' }, S.app.loading));
  const back = h('p', { class: 'back' }, h('a', { href: spec.back.href }, S.common.back(spec.back.text)));
  replace(context.main, back, place, spec.below);
  if (!can(spec.command)) {
    replace(place, heading(spec.back.text), notBuilt(spec.command));
    return;
  }
  const again = live({
    container: place,
    signal: context.signal,
    seconds: spec.seconds === undefined ? 5 : spec.seconds,
    fetch: (signal) => look(spec, signal),
    draw: (record) => {
      context.titled(spec.title(record));
      return [
        heading(
          spec.title(record),
          spec.intro && spec.intro(record),
          spec.actions && spec.actions(record, again),
        ),
        spec.body ? spec.body(record, again) : plainBody(record),
      ];
    },
    failed: (fault) => [heading(spec.back.text), errorBox(fault)],
  });
}

/** The readable members of a record, without empty lists. IDs are in a folded section below. */
export function plainBody(record, { leaveOut = [], links = [] } = {}) {
  const hidden = Object.keys(record).filter((key) => isId(record[key]));
  const noList = Object.keys(record).filter((key) => Array.isArray(record[key]) && record[key].length === 0);
  return [
    h(
      'section',
      { class: 'panel' },
      h('h2', { class: 'unseen' }, S.common.details),
      members(record, { leaveOut: [...leaveOut, ...hidden] }),
      links.length > 0 && terms(links),
    ),
    inside(record, { leaveOut: [...leaveOut, ...noList] }),
    hidden.length > 0 && folded(S.common.allDetails, members(record)),
  ];
}
