// Operators of the admin page, and the audit log.
import { action } from './action.js';
import { list } from './list.js';
import { offeredProvider } from './signin.js';
import { S } from './strings.js';
import { verbs } from './verbs.js';
import { session } from './wire.js';

/** Verbs that do not apply to an operator. */
const without = (row, provider) => [
  'add',
  ...(row.passkeys > 0 ? [] : ['passkeys', 'remove-passkey']),
  ...(provider && !row.subject ? [] : ['link']),
  ...(row.subject ? [] : ['unlink']),
  ...(row.name === session.operator.name ? ['suspend', 'role', 'reset'] : []),
];

export async function operatorsScreen(context) {
  const provider = await offeredProvider().catch(() => null);
  return list(context, {
    title: S.menu.operators,
    intro: S.operators.intro,
    command: 'operator list',
    columns: ['name', 'role', 'status', 'authenticator', 'passkeys', 'createdAt'],
    key: (row) => row.name,
    actions: (again) => [
      action({ command: 'operator add', main: true, done: again }),
      action({ command: 'admin link', done: again }),
    ],
    rowActions: (row, again) =>
      row.status !== 'token' && verbs('operator', {
        value: row.name,
        status: row.status,
        argument: 'NAME',
        about: row.name,
        again,
        except: without(row, provider),
      }),
    empty: [S.operators.empty, S.operators.emptyNext],
  });
}

export function tokensScreen(context) {
  return list(context, {
    title: S.menu.tokens,
    intro: S.tokens.intro,
    command: 'operator token list',
    columns: ['name', 'role', 'status', 'commands', 'networks', 'createdBy', 'usedAt', 'expiresAt'],
    key: (row) => row.name,
    actions: (again) => [action({ command: 'operator token create', main: true, done: again })],
    rowActions: (row, again) => {
      const one = { value: row.name, status: row.status, argument: 'NAME', about: row.name, again };
      return [...verbs('operator token', one), ...verbs('operator', { ...one, only: ['suspend', 'resume'] })];
    },
    empty: [S.tokens.empty, S.tokens.emptyNext],
  });
}

export function auditScreen(context) {
  return list(context, {
    title: S.menu.audit,
    intro: S.audit.intro,
    command: 'audit list',
    columns: ['at', 'actor', 'command', 'outcome', 'arguments', 'details', 'entry'],
    key: (row) => row.entry,
    cursor: 'before',
    cursorOf: (row) => row.entry,
    empty: [S.audit.empty, S.audit.emptyNext],
  });
}
