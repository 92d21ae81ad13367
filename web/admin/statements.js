// The statement of one wallet: chosen by name, with opening and closing balance, as a file or on paper.
import { everyRow, toCsv, toNdjson } from './csv.js';
import { download, freshId, h, replace } from './dom.js';
import { field, valuesOf } from './form.js';
import { amount, exactTime } from './format.js';
import { heading, listPart } from './list.js';
import { empty, errorBox, notBuilt, toast } from './notice.js';
import { picker } from './picker.js';
import { terms } from './record.js';
import { S } from './strings.js';
import { ENTRY_COLUMNS } from './wallets.js';
import { read, session } from './wire.js';

const T = S.statements;
const COMMAND = 'wallet statement';

const FORMATS = [
  ['csv', 'text/csv', toCsv],
  ['ndjson', 'application/x-ndjson', toNdjson],
  ['json', 'application/json', (rows) => `${JSON.stringify(rows, null, 2)}\n`],
];

function exportButtons(values, name) {
  return FORMATS.map(([format, type, write]) => {
    const button = h('button', { type: 'button' }, T.export(format));
    button.addEventListener('click', async () => {
      button.disabled = true;
      button.textContent = T.collecting;
      try {
        const rows = await everyRow(COMMAND, values, { progress: (text) => (button.textContent = text) });
        download(`statement-${name}.${format}`, type, write(rows));
        toast(T.exported(rows.length));
      } catch (fault) {
        toast(fault.message, 'bad');
      } finally {
        button.disabled = false;
        button.textContent = T.export(format);
      }
    });
    return button;
  });
}

/** The balance after the last entry before a time; nothing: before any. */
async function balanceBefore(values, to, signal) {
  const { data } = await read(COMMAND, { ID: values.ID, asset: values.asset, to, limit: 1 }, signal);
  return data[0];
}

async function balances(values, signal) {
  const [opening, closing] = await Promise.all([
    values.from ? balanceBefore(values, values.from, signal) : undefined,
    balanceBefore(values, values.to, signal),
  ]);
  const asset = (closing || opening || {}).assetCode;
  const shown = (row) => (row ? amount(row.runningBalance, row.assetCode) : amount('0', asset));
  return terms([
    [T.opening, shown(opening), h('p', { class: 'soft' }, values.from ? exactTime(values.from) : T.start)],
    [T.closing, shown(closing), h('p', { class: 'soft' }, values.to ? exactTime(values.to) : T.now)],
  ]);
}

function chooseForm(context, command, wallet) {
  const chosen = command.arguments.filter(({ name }) => ['asset', 'from', 'to'].includes(name));
  const id = freshId('wallet');
  const form = h(
    'form',
    { class: 'filters', 'aria-label': T.title },
    h(
      'div',
      { class: 'field' },
      h('label', { for: id }, T.wallet),
      picker('wallet', { name: 'wallet', id, value: wallet, required: true }).node,
    ),
    chosen.map((argument) => field(argument, context.query.get(argument.name), { hint: '' })),
    h('div', { class: 'field' }, h('button', { type: 'submit', class: 'primary' }, T.show)),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const values = valuesOf(form);
    if (values.wallet) context.go(`#/statements?${new URLSearchParams(values)}`);
  });
  return { form, names: chosen.map(({ name }) => name) };
}

export function statementsScreen(context) {
  const command = session.commands.get(COMMAND);
  if (!command) {
    replace(context.main, heading(T.title, T.intro), notBuilt(COMMAND));
    return;
  }
  const wallet = context.query.get('wallet') || '';
  const { form, names } = chooseForm(context, command, wallet);
  if (!wallet) {
    replace(context.main, heading(T.title, T.intro), form, empty(T.choose));
    return;
  }
  const values = { ID: wallet };
  for (const name of names) values[name] = context.query.get(name) || undefined;
  const title = heading(
    T.title,
    T.intro,
    h('button', { type: 'button', class: 'quiet', onclick: () => window.print() }, T.print),
  );
  read('wallet show', { ID: wallet }, context.signal).then(
    ({ data }) => {
      title.querySelector('h1').textContent = T.of(data.walletName);
      context.titled(T.of(data.walletName));
    },
    () => {},
  );
  const sums = h('section', { class: 'panel' });
  balances(values, context.signal).then(
    (node) => replace(sums, node),
    (fault) => replace(sums, errorBox(fault)),
  );
  const part = listPart(context, {
    title: T.title,
    command: COMMAND,
    fixed: values,
    filters: false,
    tools: false,
    columns: ENTRY_COLUMNS,
    link: (row) => row.transactionRecordId && `#/payments/${row.transactionRecordId}`,
    key: (row) => row.rowId,
    empty: [T.empty, T.emptyNext],
  });
  replace(
    context.main,
    title,
    form,
    sums,
    h(
      'div',
      { class: 'row above' },
      h('a', { class: 'button', href: `#/wallets/${wallet}` }, T.toWallet),
      exportButtons(values, wallet),
    ),
    h('p', { class: 'soft' }, T.camt, h('code', {}, 'GET /v1/statements/transactions/camt.053')),
    part.place,
  );
}
