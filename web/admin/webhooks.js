// Events and their deliveries to the integrators' receivers.
import { action } from './action.js';
import { h, replace } from './dom.js';
import { heading, list, listPart } from './list.js';
import { notBuilt } from './notice.js';
import { makers, verbs } from './verbs.js';
import { can, session } from './wire.js';

/** The first of these commands that the server knows. */
const known = (...commands) => commands.find(can);

export async function webhooksScreen(context) {
  const webhooks = known('webhook list', 'webhooks list');
  const deliveries = known('webhook deliveries', 'webhooks deliveries', 'delivery list', 'deliveries list');
  if (!webhooks && !deliveries) {
    replace(context.main, heading('Webhooks'), notBuilt('webhook list'));
    return;
  }
  const noun = (webhooks || deliveries).split(' ')[0];
  const hooks =
    webhooks &&
    (await listPart(context, {
      title: 'Webhooks',
      command: webhooks,
      filters: false,
      rowActions: (row, again) => verbs(noun, { value: row.id, status: row.status, about: row.url, again }),
      empty: ['No webhook yet.', 'Applications register them through the API: POST /v1/webhooks.'],
    }));
  const needsId =
    deliveries && session.commands.get(deliveries).arguments.some((each) => each.kind === 'positional');
  const sent =
    deliveries &&
    !needsId &&
    (await listPart(context, {
      title: 'Deliveries',
      command: deliveries,
      rowActions: deliveryActions,
      empty: ['No delivery yet.', 'They are made when something happens that a webhook asks for.'],
    }));
  replace(
    context.main,
    heading(
      'Webhooks',
      'Where events go, and whether they arrive. Dead letters are deliveries that were given up; ' +
        'recover or resend them.',
      makers(noun, { argument: 'ID', again: () => context.again() }),
    ),
    hooks && h('section', {}, h('h2', {}, 'Receivers'), hooks.place),
    sent && h('section', {}, h('h2', {}, 'Deliveries'), sent.place),
  );
}

function deliveryActions(row, again) {
  const resend = known(
    'event resend',
    'events resend',
    'delivery resend',
    'webhook resend',
    'webhooks resend',
  );
  if (!resend) return [];
  const argument = session.commands.get(resend).arguments.find((each) => each.kind === 'positional');
  const value = row.eventId || row.id;
  return argument && value
    ? [
        action({
          command: resend,
          title: 'Resend',
          about: value,
          fixed: { [argument.name]: value },
          quietly: true,
          done: again,
        }),
      ]
    : [];
}

export function eventsScreen(context) {
  const command = known('event list', 'events list');
  if (!command) {
    replace(context.main, heading('Events'), notBuilt('event list'));
    return undefined;
  }
  const noun = command.split(' ')[0];
  return list(context, {
    title: 'Events',
    intro: 'What happened, as integrators are told.',
    command,
    rowActions: (row, again) => verbs(noun, { value: row.id, about: row.type || row.eventType, again }),
    empty: ['No event yet.', 'Payments, wallets and quotes make them.'],
  });
}
