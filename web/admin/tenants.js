// Who uses the API: associations, their applications and their users; messages to receivers of payments.
import { action } from './action.js';
import { details } from './details.js';
import { h } from './dom.js';
import { badge, label } from './format.js';
import { list, listPart } from './list.js';
import { idColumn } from './table.js';
import { verbs } from './verbs.js';

export function associationsScreen(context) {
  list(context, {
    title: 'Associations',
    intro:
      'Whose money it is. Suspending refuses what moves money; reading goes on and running settlements finish.',
    command: 'association list',
    columns: ['name', 'status', 'type', 'createdAt', idColumn('id')],
    link: (row) => `#/associations/${row.id}`,
    actions: (again) =>
      action({ command: 'association create', main: true, done: again }),
    rowActions: (row, again) =>
      verbs('association', { value: row.id, status: row.status, about: row.name, again }),
    empty: [
      'No association yet.',
      'Create the first; then register the application that calls the API for it.',
    ],
  });
}

export function associationScreen(context) {
  const ID = context.parts[1];
  const applications = listPart(context, {
    ...APPLICATIONS,
    rows: (data) => data.filter((row) => row.associationId === ID),
    empty: [
      'No application yet.',
      'Register one under ',
      h('a', { href: '#/applications' }, 'Applications'),
    ],
  });
  const quotas = listPart(context, {
    title: 'Quotas',
    command: 'association quotas',
    fixed: { association: ID },
    filters: false,
    columns: ['environment', 'quota', 'used', 'limit', 'usedPercent'],
    key: (row) => `${row.environment} ${row.quota}`,
    empty: ['No quota.'],
  });
  details(context, {
    back: { href: '#/associations', text: 'Associations' },
    command: 'association list',
    listed: true,
    ID,
    title: (record) => record.name,
    intro: (record) => badge(record.status),
    actions: (record, again) => [
      verbs('association', { value: ID, status: record.status, about: record.name, again }),
      ['payments', 'wallets', 'beneficiaries', 'quotes', 'webhooks', 'events'].map((noun) =>
        h('a', { class: 'button', href: `#/${noun}?association=${ID}` }, label(noun)),
      ),
    ],
    below: h(
      'div',
      {},
      h('section', {}, h('h2', {}, 'Applications'), applications.place),
      h('section', {}, h('h2', {}, 'Quotas'), quotas.place),
    ),
  });
}

function applicationVerbs(row, again) {
  return verbs('application', {
    value: row.id,
    status: row.status,
    about: row.name,
    again,
    preset: { scopes: { SCOPES: row.scopes } },
  });
}

const APPLICATIONS = {
  title: 'Applications',
  command: 'application list',
  columns: [
    'name',
    'environment',
    'status',
    {
      key: 'scopes',
      render: (row) => h('span', { title: row.scopes }, `${row.scopes.split(' ').length} of them`),
    },
    'clientId',
    idColumn('associationId', 'Association'),
    'createdAt',
  ],
  link: (row) => `#/applications/${row.id}`,
};

export function applicationsScreen(context) {
  list(context, {
    ...APPLICATIONS,
    intro: 'What calls the API. Secrets are shown once, when they are issued.',
    actions: (again) =>
      action({ command: 'application register', main: true, done: again }),
    empty: ['No application yet.', 'Register one: it gets the secrets that its calls carry.'],
  });
}

export function applicationScreen(context) {
  details(context, {
    back: { href: '#/applications', text: 'Applications' },
    command: 'application list',
    listed: true,
    ID: context.parts[1],
    title: (record) => record.name,
    intro: (record) => [badge(record.status), ` ${record.environment}`],
    actions: applicationVerbs,
  });
}

export function usersScreen(context) {
  return list(context, {
    title: 'Users',
    intro:
      'People who log in to an application with password and one-time code. Not operators of this page.',
    command: 'user list',
    columns: ['username', 'status', idColumn('associationId', 'Association'), idColumn('id'), 'createdAt'],
    actions: (again) => action({ command: 'user add', main: true, done: again }),
    rowActions: (row, again) =>
      verbs('user', { value: row.id, status: row.status, about: row.username, again }),
    empty: ['No user yet.', 'Add one when people log in through your application.'],
  });
}

export function notificationsScreen(context) {
  return list(context, {
    title: 'Notifications',
    intro: 'Messages to receivers of payments, newest first.',
    command: 'notification list',
    columns: [
      idColumn('transactionRecordId', 'Payment'),
      'channel',
      'recipient',
      'state',
      'attempts',
      'environment',
      'dueAt',
      'closedAt',
    ],
    key: (row) => `${row.transactionRecordId} ${row.channel} ${row.recipient}`,
    empty: ['No message was sent yet.', 'They are made when a payment asks to tell its receiver.'],
  });
}
