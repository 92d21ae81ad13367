// Assets, their exchange rates and the liquidity of swaps.
import { action } from './action.js';
import { h, replace } from './dom.js';
import { amount } from './format.js';
import { heading, listPart } from './list.js';
import { verbs } from './verbs.js';
import { S } from './strings.js';

function liquidityColumn(key, text) {
  return { key, label: text, numeric: true, render: (row) => amount(row[key], row.code) };
}

export function ratesScreen(context) {
  const rates = listPart(context, {
    title: S.rates.title,
    command: 'rate list',
    columns: ['environment', 'sellAssetCode', 'buyAssetCode', { key: 'rate', numeric: true }, { key: 'fraction', numeric: true }],
    key: (row) => `${row.environment} ${row.sellAssetCode} ${row.buyAssetCode}`,
    rowActions: (row, again) => [
      action({
        command: 'rate set',
        title: S.rates.change,
        about: S.rates.pair(row.sellAssetCode, row.buyAssetCode),
        quietly: true,
        done: again,
        fixed: { SELL: row.sellAssetCode, BUY: row.buyAssetCode, environment: row.environment },
        preset: { RATE: row.rate },
      }),
      action({
        command: 'rate remove',
        title: S.rates.remove,
        about: S.rates.pair(row.sellAssetCode, row.buyAssetCode),
        danger: true,
        quietly: true,
        done: again,
        fixed: { SELL: row.sellAssetCode, BUY: row.buyAssetCode, environment: row.environment },
      }),
    ],
    empty: [S.rates.empty, S.rates.emptyNext],
  });
  const assets = listPart(context, {
    title: S.rates.assets,
    command: 'asset list',
    filters: false,
    columns: [
      'code',
      'name',
      'decimals',
      liquidityColumn('sandboxLiquidity', S.rates.sandbox),
      liquidityColumn('productionLiquidity', S.rates.production),
    ],
    key: (row) => row.code,
    rowActions: (row, again) =>
      verbs('asset', { value: row.code, argument: 'CODE', about: row.code, again, except: ['add'] }),
    empty: [S.rates.noAssets, S.rates.noAssetsNext],
  });
  const again = () => {
    rates.again();
    assets.again();
  };
  replace(
    context.main,
    heading(
      S.menu.rates,
      S.rates.intro,
      action({ command: 'rate set', main: true, quietly: true, done: again }),
      action({ command: 'asset add', quietly: true, done: again }),
    ),
    h('section', {}, h('h2', {}, S.rates.title), rates.place),
    h('section', {}, h('h2', {}, S.rates.assetsAndLiquidity), assets.place),
  );
}
