// Who uses the API: associations, their applications and their users; messages to receivers of payments.
import { list } from './list.js';
import { idColumn } from './table.js';
import { makers, verbs } from './verbs.js';

export function associationsScreen(context) {
  return list(context, {
    title: 'Associations',
    intro:
      'Whose money it is. Suspending refuses what moves money; reading goes on and running settlements finish.',
    command: 'association list',
    columns: ['name', 'status', 'type', idColumn('id'), 'createdAt'],
    actions: (again) => makers('association', { again, titles: { create: 'Create association' } }),
    rowActions: (row, again) =>
      verbs('association', { value: row.id, status: row.status, about: row.name, again }),
    empty: [
      'No association yet.',
      'Create the first; then register the application that calls the API for it.',
    ],
  });
}

export function applicationsScreen(context) {
  return list(context, {
    title: 'Applications',
    intro: 'What calls the API. Secrets are shown once, when they are issued.',
    command: 'application list',
    columns: [
      'name',
      'environment',
      'status',
      'scopes',
      idColumn('associationId', 'Association'),
      'clientId',
      idColumn('id'),
      'createdAt',
    ],
    actions: (again) => makers('application', { again, titles: { register: 'Register application' } }),
    rowActions: (row, again) =>
      verbs('application', {
        value: row.id,
        status: row.status,
        about: row.name,
        again,
        quietly: true,
        preset: { scopes: { SCOPES: row.scopes } },
      }),
    empty: ['No application yet.', 'Register one: it gets the secrets that its calls carry.'],
  });
}

export function usersScreen(context) {
  return list(context, {
    title: 'Users',
    intro:
      'People who log in to an application with password and one-time code. Not operators of this page.',
    command: 'user list',
    columns: ['username', 'status', idColumn('associationId', 'Association'), idColumn('id'), 'createdAt'],
    actions: (again) => makers('user', { again, titles: { add: 'Add user' } }),
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
