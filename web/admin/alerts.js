// Alerts to the operator, and the messages about them.
import { action } from './action.js';
import { h } from './dom.js';
import { ago, badge, statusText } from './format.js';
import { list } from './list.js';
import { S } from './strings.js';

/** The messages of an alert: target, time and result. */
function messages(row) {
  if (row.messages.length === 0) return h('span', { class: 'soft' }, S.alerts.noMessages);
  return h(
    'ul',
    { class: 'plain' },
    row.messages.map((each) =>
      h(
        'li',
        {},
        h('span', { title: each.result || undefined }, badge(each.state)),
        ` ${statusText(each.kind)}, ${each.target}, `,
        ago(each.closedAt || each.createdAt),
      ),
    ),
  );
}

export function alertsScreen(context) {
  return list(context, {
    title: S.menu.alerts,
    intro: S.alerts.intro,
    command: 'alert list',
    columns: [
      { key: 'summary', card: 'title' },
      { key: 'state', card: 'badge', render: (row) => badge(row.state, row.state === 'open' ? 'bad' : 'plain') },
      'count',
      { key: 'beganAt', card: 'when' },
      'endedAt',
      { key: 'messages', card: 'sub', render: messages },
    ],
    more: ['condition'],
    key: (row) => row.id,
    actions: (again) => action({ command: 'alert test', done: again }),
    empty: [S.alerts.empty, S.alerts.emptyNext],
  });
}
