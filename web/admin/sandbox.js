// The clock of a demo, its snapshots, and its test data.
import { action } from './action.js';
import { h, replace } from './dom.js';
import { ago, exactTime } from './format.js';
import { heading, listPart } from './list.js';
import { live } from './live.js';
import { errorBox } from './notice.js';
import { S } from './strings.js';
import { read } from './wire.js';

const B = S.sandbox;

const panel = (title, text, ...content) =>
  h('section', { class: 'panel' }, h('h2', {}, title), h('p', {}, text), content);

export function sandboxScreen(context) {
  const clock = h('p', {});
  const ticked = live({
    container: clock,
    signal: context.signal,
    seconds: 5,
    fetch: async (signal) => (await read('sandbox clock', {}, signal)).data,
    draw: ({ now, advancedMs }) => [B.now, exactTime(now), B.ahead(Math.round(advancedMs / 60_000))],
    failed: errorBox,
  });
  const snapshots = listPart(context, {
    title: B.snapshots,
    command: 'sandbox snapshots',
    filters: false,
    tools: false,
    columns: [
      { key: 'name', card: 'title' },
      { key: 'takenAt', label: S.checks.age, card: 'sub', render: (row) => ago(row.takenAt) },
      { key: 'bytes', label: S.checks.size, card: 'value' },
    ],
    key: (row) => row.name,
    rowActions: (row) => [
      action({ command: 'sandbox rewind', about: row.name, fixed: { NAME: row.name }, danger: true }),
    ],
    empty: [B.noSnapshots],
  });
  const row = (...content) => h('div', { class: 'row below' }, content);
  replace(
    context.main,
    heading(S.menu.sandbox, B.intro),
    panel(B.clock, B.clockText, clock, row(action({ command: 'sandbox advance', quietly: true, done: ticked }))),
    panel(
      B.snapshots,
      B.snapshotsText,
      snapshots.place,
      row(
        action({ command: 'sandbox snapshot', quietly: true, done: snapshots.again }),
        action({ command: 'sandbox reset', danger: true }),
      ),
    ),
    panel(
      B.fixtures,
      B.fixturesText,
      row(
        action({ command: 'apply', preset: { 'dry-run': true } }),
        action({ command: 'payment bulk', preset: { preview: true } }),
        action({ command: 'trigger' }),
      ),
    ),
  );
}
