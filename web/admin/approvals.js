// Commands that wait for a second operator.
import { details, plainBody } from './details.js';
import { badge } from './format.js';
import { list } from './list.js';
import { S } from './strings.js';
import { idColumn } from './table.js';
import { verbs } from './verbs.js';
import { session } from './wire.js';

const A = S.approvals;

/** Operators cannot approve their own requests; they withdraw one by rejecting it. */
const buttons = (row, again) =>
  verbs('approval', {
    value: row.id,
    status: row.status,
    about: `${row.command}, ${row.requestedBy}`,
    again,
    except: row.requestedBy === session.operator.name ? ['approve'] : [],
  });

export function approvalsScreen(context) {
  return list(context, {
    title: S.menu.approvals,
    intro: A.intro,
    command: 'approval list',
    columns: [
      { key: 'command', card: 'title' },
      { key: 'status', card: 'badge' },
      { key: 'requestedBy', card: 'sub' },
      'arguments',
      'requestedAt',
      'expiresAt',
      'decidedBy',
      'outcome',
    ],
    more: [idColumn('id')],
    link: (row) => `#/approvals/${row.id}`,
    rowActions: buttons,
    bulk: { noun: 'approval', about: (row) => `${row.command}, ${row.requestedBy}` },
    empty: [A.empty, A.emptyNext],
  });
}

export function approvalScreen(context) {
  return details(context, {
    back: { href: '#/approvals', text: S.menu.approvals },
    command: 'approval show',
    ID: context.parts[1],
    title: (record) => record.command,
    intro: (record) => badge(record.status),
    actions: buttons,
    body: (record) => plainBody(record, { leaveOut: record.given ? ['arguments'] : [] }),
  });
}
