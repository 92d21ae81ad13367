// Names instead of IDs, words instead of codes, tables that fit, and the sandbox screen of a demo.
import { ok } from './judge.mjs';

const read = (page) => page.evaluate(() => document.querySelector('main .content').innerText);

async function firstOf(watched, noun) {
  await watched.visit(noun);
  return watched.page.evaluate(
    (start) => document.querySelector(`tbody a[href^="#/${start}/"]`).getAttribute('href').slice(2),
    noun,
  );
}

/** Pages of one object show no ID until it is unfolded, and no codes of the API. */
export async function names(watched) {
  const { page } = watched;
  for (const noun of ['connectors', 'beneficiaries', 'applications', 'associations', 'wallets', 'webhooks']) {
    await watched.visit(await firstOf(watched, noun));
    const named = () => !/[0-9a-f]{8}(-|…)/.test(document.querySelector('main .content').innerText);
    const isNamed = await page.waitForFunction(named, undefined, { timeout: 10_000 }).then(() => true, () => false);
    const text = await read(page);
    ok(`#/${noun}: the page of one object shows no ID`, isNamed, text);
    const codes = text.match(/\b(OFF_RAMP|ON_RAMP|BANK|MOMO|QUOTED|BESPOKE|sandbox|file_bytes|open_quotes)\b/);
    ok(`#/${noun}: the page of one object shows no codes of the API`, codes === null, String(codes));
  }
  await page.locator('details.folded summary').first().click();
  ok('the IDs are folded below', /[0-9a-f]{8}…/.test(await read(page)));
  await watched.visit('quotes');
  ok('a quote links its payment by name', !/[0-9a-f]{8}…|USED/.test(await read(page)));
  await watched.quiet('names');
}

/** At 1280 pixels, lists show every column, and no button covers one. */
export async function fits(watched) {
  const { page } = watched;
  for (const place of ['wallets', 'quotes', 'reviews', 'alerts']) {
    await watched.visit(place);
    const over = await page.evaluate(() =>
      Math.max(0, ...[...document.querySelectorAll('main .scroll')].map((each) => each.scrollWidth - each.clientWidth)),
    );
    ok(`#/${place} fits its table`, over <= 1, `${over} px too wide`);
  }
  const halves = await page.evaluate(async () => {
    const { chart } = await import('/admin/chart.js');
    const of = (delivered) =>
      chart({ title: 'a', summary: '', buckets: [{ label: 'x', tick: 'x', delivered }], series: [{ key: 'delivered', name: 'd', tone: 'good' }] });
    return [1, 2, 3, 5, 9].flatMap((count) =>
      [...of(count).querySelectorAll('.axis')].map((each) => each.textContent).filter((text) => /\.5/.test(text)),
    );
  });
  ok('the axis of a chart of counts has no fractions', halves.length === 0, halves.join());
  await watched.quiet('lists at 1280 pixels');
}

/** The screen for the clock of a demo. */
export async function sandboxTasks(watched) {
  const { page } = watched;
  await watched.visit('sandbox');
  await page.waitForSelector('main [data-command="sandbox advance"]');
  await page.waitForFunction(() => /The time of the demo is/.test(document.querySelector('main').innerText));
  const text = await read(page);
  ok('the sandbox shows its time', /The time of the demo is .*UTC\. It has not been advanced\./.test(text), text);
  const offered = await page.evaluate(() =>
    [...document.querySelectorAll('main [data-command]')].map((each) => each.dataset.command),
  );
  for (const command of ['sandbox advance', 'apply', 'payment bulk'])
    ok(`the sandbox offers ${command}`, offered.includes(command), offered.join(', '));
  await watched.axe('the sandbox');
  await watched.quiet('the sandbox');
}
