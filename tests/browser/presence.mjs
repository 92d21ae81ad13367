// An operator at the page: with only the keyboard, away for a while, and back.
import { ok, Watched } from './judge.mjs';

export async function keyboard(watched, world) {
  const { page } = watched;
  await page.goto(`${world.admin}#/associations`);
  await page.reload();
  await watched.settled();
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('Tab');
  ok(
    'the first Tab stop is the skip link',
    (await page.evaluate(() => document.activeElement.className)) === 'skip',
  );
  await page.keyboard.press('Enter');
  ok('the skip link moves the focus to the content', (await page.evaluate(() => document.activeElement.id)) === 'main');
  await page.keyboard.press('Tab');
  const seen = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  ok('the focus is visible', seen === 'solid', seen);
  const stops = await page.evaluate(
    () => document.querySelectorAll('[tabindex]:not([tabindex="0"]):not([tabindex="-1"])').length,
  );
  ok('no element changes the tab order', stops === 0);
  await page.keyboard.press('Enter');
  await page.waitForSelector('dialog[open] form');
  ok(
    'Enter opens a dialog, which gets the focus',
    await page.evaluate(() => document.activeElement.closest('dialog') !== null),
  );
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog[open]', { state: 'detached' });
  ok(
    'Escape closes the dialog, and the focus returns',
    (await page.evaluate(() => document.activeElement.dataset.command)) === 'association create',
  );
}

/** On a phone, the menu opens over the page, also by keyboard. The theme button changes the colours. */
export async function smallScreen(watched) {
  const { page } = watched;
  await watched.visit('wallets');
  await watched.size('narrow');
  ok('on a small screen, the menu is hidden', !(await page.isVisible('#menu')));
  await page.focus('#menu-button');
  await page.keyboard.press('Enter');
  ok('the menu button opens the menu', await page.isVisible('#menu'));
  ok('the focus is in the menu', await page.evaluate(() => document.activeElement.closest('#menu') !== null));
  await page.keyboard.press('Escape');
  ok('Escape closes the menu', !(await page.isVisible('#menu')));
  ok('the focus returns to the button', await page.evaluate(() => document.activeElement.id === 'menu-button'));
  await page.keyboard.press('Enter');
  await page.click('#menu a[href="#/account"]');
  await watched.settled();
  ok('a choice closes the menu', !(await page.isVisible('#menu')));
  await watched.size('wide');
  const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await colour();
  await page.click('#menu .theme');
  await page.click('#menu .theme');
  const dark = await colour();
  await page.reload();
  await watched.settled();
  ok('a chosen theme is kept', dark !== light && (await colour()) === dark, `${light} ${dark}`);
  await page.click('#menu .theme');
  await watched.quiet('a small screen');
}

/** The session ends during a task. */
export async function expiry(watched, world) {
  const { page, context } = watched;
  await watched.visit('associations');
  await page.click('[data-command="association create"]');
  await page.fill('dialog[open] input[name=NAME]', 'Half typed');
  await context.clearCookies();
  await page.click('dialog[open] button[type=submit]');
  await page.waitForSelector('dialog.cover');
  ok('an expired session asks for the password', true);
  ok(
    'the sign-in after an expired session remembers the name',
    (await page.inputValue('dialog.cover input[name=name]')) === world.facts.adminUser,
  );
  const seen = await page.evaluate(() => {
    const box = document.querySelector('dialog.cover').getBoundingClientRect();
    return box.width >= innerWidth && box.height >= innerHeight;
  });
  ok('the page is hidden meanwhile', seen);
  await watched.signIn(world.facts.adminUser, world.facts.adminPassword);
  await page.waitForSelector('dialog[open] .notice.good');
  await page.click('dialog[open] .row.end button:first-child');
  await page.waitForFunction(() => /Half typed/.test((document.querySelector('main') || {}).textContent));
  ok('the task in progress completes after the sign-in', true);
  await watched.quiet('a session that ended');
}

/** Automatic updates do not keep a session alive: an inactive operator is signed out. */
export async function idleness(_, world) {
  const watched = await Watched.open(world, 'wide', { ownClock: true });
  const { page } = watched;
  await watched.signIn(world.facts.adminUser, world.facts.adminPassword);
  await watched.visit('wallets');
  await page.clock.fastForward('14:00');
  await page.keyboard.press('Shift');
  await page.clock.fastForward('14:00');
  const there = () => page.evaluate(() => fetch('api/session').then((answer) => answer.status));
  ok('an active operator stays signed in', (await there()) === 200 && !(await page.$('dialog.cover')));
  await page.clock.fastForward('16:00');
  await page.waitForSelector('dialog.cover');
  ok('an operator is signed out after 15 minutes of inactivity', true);
  ok('the server ends the session too', (await there()) === 401);
  await watched.signIn(world.facts.adminUser, world.facts.adminPassword);
  ok('after the sign-in, the page is the same as before', page.url().endsWith('#/wallets'), page.url());
  await watched.quiet('a session that idled');
  await watched.context.close();
}
