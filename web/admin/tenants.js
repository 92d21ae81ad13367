// Associations, their applications and users; notifications to receivers of payments.
import { action, ask } from './action.js';
import { details, plainBody } from './details.js';
import { h } from './dom.js';
import { badge, label } from './format.js';
import { list, listPart } from './list.js';
import { idColumn } from './table.js';
import { verbs } from './verbs.js';
import { named, namedColumn } from './choices.js';
import { S } from './strings.js';
import { can } from './wire.js';

/** The next step after an association was created. */
const registerNext = ({ data }, close) =>
  can('application register') &&
  h(
    'button',
    {
      type: 'button',
      class: 'primary',
      onclick: () => {
        close();
        ask({ command: 'application register', preset: { association: data.id }, about: data.name });
      },
    },
    S.applications.registerFor(data.name),
  );

export function associationsScreen(context) {
  list(context, {
    title: S.menu.associations,
    intro:
      S.associations.intro,
    command: 'association list',
    columns: [{ key: 'name', card: 'title' }, { key: 'status', card: 'badge' }, { key: 'type', card: 'sub' }, 'createdAt'],
    more: [idColumn('id')],
    link: (row) => `#/associations/${row.id}`,
    actions: (again) =>
      action({ command: 'association create', main: true, done: again, next: registerNext }),
    rowActions: (row, again) =>
      verbs('association', { value: row.id, status: row.status, about: row.name, again }),
    bulk: { noun: 'association', about: (row) => row.name },
    empty: [
      S.associations.empty,
      S.associations.emptyNext,
    ],
  });
}

export function associationScreen(context) {
  const ID = context.parts[1];
  const applications = listPart(context, {
    ...APPLICATIONS,
    rows: (data) => data.filter((row) => row.associationId === ID),
    empty: [
      S.applications.empty,
      action({ command: 'application register', preset: { association: ID }, done: () => applications.again() }),
    ],
  });
  const quotas = listPart(context, {
    title: S.associations.quotas,
    command: 'association quotas',
    fixed: { association: ID },
    filters: false,
    tools: false,
    columns: ['environment', 'quota', 'used', 'limit', 'usedPercent'],
    key: (row) => `${row.environment} ${row.quota}`,
    empty: [S.associations.noQuotas],
  });
  details(context, {
    back: { href: '#/associations', text: S.menu.associations },
    command: 'association list',
    listed: true,
    ID,
    title: (record) => record.name,
    intro: (record) => badge(record.status),
    actions: (record, again) => [
      verbs('association', { value: ID, status: record.status, about: record.name, again }),
      action({ command: 'application register', preset: { association: ID }, done: () => applications.again() }),
      ['payments', 'wallets', 'beneficiaries', 'quotes', 'webhooks', 'events'].map((noun) =>
        h('a', { class: 'button', href: `#/${noun}?association=${ID}` }, label(noun)),
      ),
    ],
    below: h(
      'div',
      {},
      h('section', {}, h('h2', {}, S.menu.applications), applications.place),
      h('section', {}, h('h2', {}, S.associations.quotas), quotas.place),
    ),
  });
}

function applicationVerbs(row, again) {
  return verbs('application', {
    value: row.id,
    status: row.status,
    about: row.name,
    again,
  });
}

const APPLICATIONS = {
  title: S.menu.applications,
  command: 'application list',
  columns: [
    'name',
    'environment',
    'status',
    {
      key: 'scopes',
      render: (row) => h('span', { title: row.scopes }, S.applications.scopes(row.scopes.split(' ').length)),
    },
    'clientId',
    'apiKeyUsedAt',
    namedColumn('association'),
    'createdAt',
  ],
  link: (row) => `#/applications/${row.id}`,
};

export function applicationsScreen(context) {
  list(context, {
    ...APPLICATIONS,
    intro: S.applications.intro,
    actions: (again) =>
      action({ command: 'application register', main: true, done: again }),
    empty: [S.applications.empty, S.applications.emptyNext],
  });
}

export function applicationScreen(context) {
  details(context, {
    back: { href: '#/applications', text: S.menu.applications },
    command: 'application list',
    listed: true,
    ID: context.parts[1],
    title: (record) => record.name,
    intro: (record) => [badge(record.status), ` ${S.word[record.environment]}`],
    actions: applicationVerbs,
    body: (record) =>
      plainBody(record, {
        leaveOut: ['name', 'status'],
        links: [[label('association'), named('association', record.associationId)]],
      }),
  });
}

export function usersScreen(context) {
  return list(context, {
    title: S.menu.users,
    intro: S.users.intro,
    command: 'user list',
    columns: [
      { key: 'username', card: 'title' },
      { key: 'status', card: 'badge' },
      { ...namedColumn('association'), card: 'sub' },
      'createdAt',
    ],
    more: [idColumn('id')],
    actions: (again) => action({ command: 'user add', main: true, done: again }),
    rowActions: (row, again) =>
      verbs('user', { value: row.id, status: row.status, about: row.username, again }),
    bulk: { noun: 'user', about: (row) => row.username },
    empty: [S.users.empty, S.users.emptyNext],
  });
}

export function notificationsScreen(context) {
  return list(context, {
    title: S.menu.notifications,
    intro: S.notifications.intro,
    command: 'notification list',
    columns: [
      idColumn('transactionRecordId', S.statements.payment),
      'channel',
      'recipient',
      'state',
      'attempts',
      'environment',
      'dueAt',
      'closedAt',
    ],
    key: (row) => `${row.transactionRecordId} ${row.channel} ${row.recipient}`,
    empty: [S.notifications.empty, S.notifications.emptyNext],
  });
}
