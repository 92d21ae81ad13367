// Who may use this page, and what everybody did.
import { action } from './action.js';
import { list } from './list.js';
import { verbs } from './verbs.js';
import { session } from './wire.js';

export function operatorsScreen(context) {
  return list(context, {
    title: 'Operators',
    intro:
      'A viewer looks at everything but secrets; an operator does the daily work; an administrator may do all.',
    command: 'operator list',
    columns: ['name', 'role', 'status', { key: 'authenticator', label: 'Authenticator' }, 'passkeys', 'createdAt'],
    key: (row) => row.name,
    actions: (again) => [
      action({ command: 'operator add', main: true, done: again }),
      action({ command: 'admin link', done: again }),
    ],
    rowActions: (row, again) =>
      verbs('operator', {
        value: row.name,
        status: row.status,
        argument: 'NAME',
        about: row.name,
        again,
        except: ['add'],
        preset: { role: { role: row.role } },
      }).filter(
        (button) =>
          button &&
          (row.name !== session.operator.name || !/suspend|role|reset/.test(button.dataset.command)),
      ),
    empty: ['No operator yet.', 'Invite the first.'],
  });
}

export function auditScreen(context) {
  return list(context, {
    title: 'Audit log',
    intro:
      'Commands from this page and the command line, sign-ins and changes of credentials, newest first. Entries cannot be changed or removed.',
    command: 'audit list',
    columns: ['at', 'actor', 'command', 'outcome', 'arguments', 'answer', 'act'],
    key: (row) => row.act,
    cursor: 'before',
    cursorOf: (row) => row.act,
    labels: { actor: 'Who', command: 'Command' },
    empty: [
      'Nothing was done yet.',
      'Everything that changes something is written here before it is done.',
    ],
  });
}
