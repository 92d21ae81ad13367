// Assets, what one gives of another, and how much of each there is to give.
import { action } from './action.js';
import { h, replace } from './dom.js';
import { amount } from './format.js';
import { heading, listPart } from './list.js';
import { verbs } from './verbs.js';

function liquidityColumn(key, text) {
  return { key, label: text, numeric: true, render: (row) => amount(row[key], row.code) };
}

export function ratesScreen(context) {
  const rates = listPart(context, {
    title: 'Rates',
    command: 'rate list',
    columns: ['environment', 'sellAssetCode', 'buyAssetCode', { key: 'rate', numeric: true }],
    key: (row) => `${row.environment} ${row.sellAssetCode} ${row.buyAssetCode}`,
    rowActions: (row, again) => [
      action({
        command: 'rate set',
        title: 'Change',
        about: `${row.sellAssetCode} to ${row.buyAssetCode}`,
        quietly: true,
        done: again,
        fixed: { SELL: row.sellAssetCode, BUY: row.buyAssetCode, environment: row.environment },
        preset: { RATE: row.rate },
      }),
      action({
        command: 'rate remove',
        title: 'Remove',
        about: `${row.sellAssetCode} to ${row.buyAssetCode}`,
        danger: true,
        quietly: true,
        done: again,
        fixed: { SELL: row.sellAssetCode, BUY: row.buyAssetCode, environment: row.environment },
      }),
    ],
    empty: ['No rate yet: nothing can be swapped.', 'Set one for each pair and direction.'],
  });
  const assets = listPart(context, {
    title: 'Assets',
    command: 'asset list',
    filters: false,
    columns: [
      'code',
      'name',
      'decimals',
      liquidityColumn('sandboxLiquidity', 'Sandbox liquidity'),
      liquidityColumn('productionLiquidity', 'Production liquidity'),
    ],
    key: (row) => row.code,
    rowActions: (row, again) =>
      verbs('asset', { value: row.code, argument: 'CODE', about: row.code, again, except: ['add'] }),
    empty: ['No asset yet.', 'Add the first with the button above.'],
  });
  const again = () => {
    rates.again();
    assets.again();
  };
  replace(
    context.main,
    heading(
      'Rates and liquidity',
      'What swaps are made at, and from what.',
      action({ command: 'rate set', main: true, quietly: true, done: again }),
      action({ command: 'asset add', quietly: true, done: again }),
    ),
    h('section', {}, h('h2', {}, 'Rates'), rates.place),
    h('section', {}, h('h2', {}, 'Assets and liquidity'), assets.place),
  );
}
