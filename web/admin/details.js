// A screen about one thing.
import { h, replace } from './dom.js';
import { heading } from './list.js';
import { live } from './live.js';
import { errorBox, notBuilt } from './notice.js';
import { inside, members } from './record.js';
import { can, read } from './wire.js';

/** Where a list can stand in for a command that shows one thing. */
async function fetchOne(spec, signal) {
  if (can(spec.command)) return (await read(spec.command, spec.fixed, signal)).data;
  const { data } = await read(spec.list.command, {}, signal);
  const found = data.find(spec.list.is);
  if (!found) {
    const fault = new Error('There is no such thing, or no longer.');
    fault.title = 'Not found';
    throw fault;
  }
  return found;
}

/**
 * {title(record), back: {href, text}, command, fixed, list: {command, is(row)}, actions(record, again),
 * body(record, again), leaveOut, titles}.
 */
export async function details(context, spec) {
  const place = h('div', {}, h('p', { class: 'soft', role: 'status' }, 'Loading…'));
  const back = h('p', { class: 'back' }, h('a', { href: spec.back.href }, `← ${spec.back.text}`));
  replace(context.main, back, place);
  if (!can(spec.command) && !(spec.list && can(spec.list.command))) {
    replace(place, heading(spec.back.text), notBuilt(spec.command));
    return;
  }
  let again = () => {};
  const look = () => again();
  again = await live({
    container: place,
    signal: context.signal,
    seconds: 5,
    fetch: (signal) => fetchOne(spec, signal),
    draw: (record) => {
      context.titled(spec.title(record));
      return [
        heading(
          spec.title(record),
          spec.intro && spec.intro(record),
          spec.actions ? spec.actions(record, look) : [],
        ),
        spec.body ? spec.body(record, look) : plainBody(record, spec),
      ];
    },
    failed: (fault) => [heading(spec.back.text), errorBox(fault)],
  });
}

export function plainBody(record, spec = {}) {
  return [
    h(
      'section',
      { class: 'panel' },
      h('h2', { class: 'unseen' }, 'Details'),
      members(record, { leaveOut: spec.leaveOut }),
    ),
    inside(record, { leaveOut: spec.leaveOut, titles: spec.titles }),
  ];
}
