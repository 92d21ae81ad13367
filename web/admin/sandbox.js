// The clock of a demo, and its test data.
import { action } from './action.js';
import { h, replace } from './dom.js';
import { exactTime } from './format.js';
import { heading } from './list.js';
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
  const row = (...content) => h('div', { class: 'row below' }, content);
  replace(
    context.main,
    heading(S.menu.sandbox, B.intro),
    panel(B.clock, B.clockText, clock, row(action({ command: 'sandbox advance', quietly: true, done: ticked }))),
    panel(
      B.fixtures,
      B.fixturesText,
      row(
        action({ command: 'apply' }),
        action({ command: 'payment bulk' }),
        action({ command: 'trigger' }),
      ),
    ),
  );
}
