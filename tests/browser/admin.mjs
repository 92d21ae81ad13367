// Part of admin.py: opens the admin page of a demo in a browser and runs all chapters.
import { chromium } from 'playwright-core';

import { attacks, guessing } from './attacks.mjs';
import { audited, checks, doing, hooks, market, money, people, tenants } from './actions.mjs';
import { controls, failures, ok, signInPage, Watched } from './judge.mjs';
import { files, goingLive, locales, news, order, periods, rowsOnPhones, searches, severalRows } from './lists.mjs';
import { certainty, typedAmounts } from './certain.mjs';
import { creating, forms } from './forms.mjs';
import { newcomer } from './newcomer.mjs';
import { SCRIPT } from './outside.mjs';
import { fits, names, sandboxTasks } from './plain.mjs';
import { seed } from './seed.mjs';
import { details, figures, inert, liveness, screens, search } from './screens.mjs';
import { expiry, idleness, keyboard, smallScreen } from './presence.mjs';
import { lists, manners, onePayment, overview, paper, phoneLists, printing, resolving, webhookTasks, weight } from './tasks.mjs';

const facts = JSON.parse(process.env.COFFER_TEST);

const LIAR = `Liar ${SCRIPT}`.slice(0, 64);

/** The first action, whose result the others need. */
function addConnector(page, provider) {
  return doing(page, {
    place: 'connectors',
    command: 'connector add',
    values: {
      NAME: LIAR,
      driver: 'http',
      country: 'KE',
      currency: 'KES',
      asset: 'USDC',
      rate: '1',
      'tolerance-bps': '10000',
      min: '1',
      max: '1000',
      'base-url': provider,
    },
    then: LIAR,
  });
}

/** A chapter that cannot continue is a fault. The next chapter reloads the page. */
async function told(chapter, page, world) {
  const began = Date.now();
  try {
    await chapter(page, world);
  } catch (fault) {
    ok(`${chapter.name} completes`, false, fault.stack);
    await page.leaveDialogs();
  }
  process.stdout.write(`-------- ${chapter.name}: ${((Date.now() - began) / 1000).toFixed(1)} s\n`);
}

async function run() {
  const browser = await chromium.launch({
    executablePath: facts.browser,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  try {
    ok('the demo prints its admin page and the credentials', facts.adminUrl && facts.adminUser && facts.adminPassword);
    const world = { facts, browser, admin: facts.adminUrl.replace(/\/?$/, '/') };
    const page = await Watched.open(world, 'wide');
    await controls(page);
    await signInPage(page);
    await page.signIn(facts.adminUser, facts.adminPassword);
    await page.settled();
    await addConnector(page, facts.provider);
    world.seeded = await seed(facts, { liar: LIAR, receiver: facts.receiver });
    await page.visit('overview');
    const chapters = [screens, details, figures, liveness, search, inert, keyboard, smallScreen];
    chapters.push(names, fits, sandboxTasks, onePayment, resolving, lists, phoneLists, overview, manners, printing, paper, webhookTasks, weight);
    chapters.push(searches, periods, order, severalRows, rowsOnPhones, files, locales, typedAmounts, news, goingLive);
    chapters.push(forms, creating, certainty, tenants, money, market, hooks, people, checks, audited);
    chapters.push(expiry, idleness, newcomer, attacks, guessing);
    // COFFER_CHAPTERS=order,files runs only these.
    const only = (process.env.COFFER_CHAPTERS || '').split(',').filter(Boolean);
    for (const chapter of chapters) {
      if (only.length === 0 || only.includes(chapter.name)) await told(chapter, page, world);
    }
  } finally {
    await browser.close();
  }
}

try {
  await run();
} catch (fault) {
  ok(`the test completes: ${fault.stack}`, false);
}
process.exitCode = failures() > 0 ? 1 : 0;
