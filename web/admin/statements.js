// The statement of a wallet chosen by name, with opening and closing balance, export and print.
import { everyRow } from './csv.js';
import { freshId, h, replace, save } from './dom.js';
import { field, valuesOf } from './form.js';
import { amount, exactTime } from './format.js';
import { heading, listPart } from './list.js';
import { empty, errorBox, notBuilt, toast } from './notice.js';
import { periodSelect, rangeOf } from './period.js';
import { picker } from './picker.js';
import { terms } from './record.js';
import { S } from './strings.js';
import { table } from './table.js';
import { ENTRY_COLUMNS } from './wallets.js';
import { read, session } from './wire.js';

const T = S.statements;
const COMMAND = 'wallet statement';
const EXPORT = 'statement export';

/** One button for each format of the command; the server writes the file. */
function exportButtons(values) {
  const command = session.commands.get(EXPORT);
  if (!command) return null;
  const { placeholder } = command.arguments.find(({ name }) => name === 'format');
  return placeholder.split('|').map((format) => {
    const button = h('button', { type: 'button', 'data-format': format }, T.export(format));
    button.addEventListener('click', async () => {
      button.disabled = true;
      try {
        save((await read(EXPORT, { ...values, format })).data);
        toast(T.exported(format));
      } catch (fault) {
        toast(fault.message, 'bad');
      } finally {
        button.disabled = false;
      }
    });
    return button;
  });
}

/** The last entry before a time, with the balance after it; undefined before the first entry. */
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

/** The printed statement, with every entry. The button loads all entries of a long statement before printing. */
function paper(values, context) {
  const rowsOf = (rows) =>
    rows.length === 0
      ? empty(T.empty)
      : table({ caption: T.title, rows, columns: ENTRY_COLUMNS, key: (row) => row.rowId });
  const place = h('div', { class: 'paper' }, h('p', {}, T.printAll));
  read(COMMAND, { ...values, limit: 200 }, context.signal).then(
    ({ data, nextCursor }) => !nextCursor && replace(place, rowsOf(data)),
    () => {}, // the list reports the error
  );
  const button = h('button', { type: 'button', class: 'quiet', 'data-print': '' }, T.print);
  button.addEventListener('click', async () => {
    button.disabled = true;
    try {
      const rows = await everyRow(COMMAND, values, { progress: (text) => (button.textContent = text) });
      replace(place, rowsOf(rows));
      window.print();
    } catch (fault) {
      toast(fault.message, 'bad');
    } finally {
      button.disabled = false;
      button.textContent = T.print;
    }
  });
  return { place, button };
}

function chooseForm(context, command, wallet) {
  const chosen = command.arguments.filter(({ name }) => ['asset', 'from', 'to'].includes(name));
  const id = freshId('wallet');
  const period = periodSelect({
    any: S.period.any,
    own: context.query.has('from') || context.query.has('to'),
    apply: (name) => {
      const wanted = { wallet: form.elements.wallet.value, ...(name ? rangeOf(name) : {}) };
      const asset = form.elements.asset && form.elements.asset.value;
      const query = Object.entries({ ...wanted, asset }).filter(([, value]) => value);
      context.go(`#/statements?${new URLSearchParams(query)}`);
    },
  });
  period.removeAttribute('name'); // the address has its start and end
  const form = h(
    'form',
    { class: 'filters', 'aria-label': T.title },
    h(
      'div',
      { class: 'field' },
      h('label', { for: id }, T.wallet),
      picker('wallet list', { name: 'wallet', id, value: wallet, required: true }).node,
    ),
    h('div', { class: 'field' }, h('label', { for: period.id }, S.period.label), period),
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
  const printed = paper(values, context);
  const title = heading(T.title, T.intro, printed.button);
  const owner = h('p', { class: 'paper' });
  read('wallet show', { ID: wallet }, context.signal).then(
    ({ data }) => {
      owner.textContent = T.owner(data.association, data.accountNumber);
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
    owner,
    form,
    sums,
    h(
      'div',
      { class: 'row above' },
      h('a', { class: 'button', href: `#/wallets/${wallet}` }, T.toWallet),
      exportButtons(values),
    ),
    h('p', { class: 'soft screen' }, T.formats),
    h('div', { class: 'screen' }, part.place),
    printed.place,
  );
}
