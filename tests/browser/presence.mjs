// A person in front of the page: by keyboard alone, away for a while, and back.
import { ok, Watched } from './judge.mjs';

export async function keyboard(watched, world) {
  const { page } = watched;
  await page.goto(`${world.admin}#/associations`);
  await page.reload();
  await watched.settled();
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('Tab');
  ok(
    'the first stop of Tab leads to the content',
    (await page.evaluate(() => document.activeElement.className)) === 'skip',
  );
  await page.keyboard.press('Enter');
  ok('and it goes there', (await page.evaluate(() => document.activeElement.id)) === 'main');
  await page.keyboard.press('Tab');
  const seen = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  ok('focus is seen', seen === 'solid', seen);
  const stops = await page.evaluate(
    () => document.querySelectorAll('[tabindex]:not([tabindex="0"]):not([tabindex="-1"])').length,
  );
  ok('nothing takes focus out of turn', stops === 0);
  await page.keyboard.press('Enter');
  await page.waitForSelector('dialog[open] form');
  ok(
    'Enter opens a dialog, focus is in it',
    await page.evaluate(() => document.activeElement.closest('dialog') !== null),
  );
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog[open]', { state: 'detached' });
  ok(
    'Escape closes it, focus is back',
    (await page.evaluate(() => document.activeElement.dataset.command)) === 'association create',
  );
}

/** A phone: the menu opens over the page, by keyboard too. And the colours follow the button. */
export async function smallScreen(watched) {
  const { page } = watched;
  await watched.visit('wallets');
  await watched.size('narrow');
  ok('on a small screen the menu is away', !(await page.isVisible('#menu')));
  await page.focus('#menu-button');
  await page.keyboard.press('Enter');
  ok('its button opens it', await page.isVisible('#menu'));
  ok('with the focus in it', await page.evaluate(() => document.activeElement.closest('#menu') !== null));
  await page.keyboard.press('Escape');
  ok('Escape closes it', !(await page.isVisible('#menu')));
  ok('and the focus is back', await page.evaluate(() => document.activeElement.id === 'menu-button'));
  await page.keyboard.press('Enter');
  await page.click('#menu a[href="#/account"]');
  await watched.settled();
  ok('a choice closes it', !(await page.isVisible('#menu')));
  await watched.size('wide');
  const colour = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await colour();
  await page.click('#menu .theme');
  await page.click('#menu .theme');
  const dark = await colour();
  await page.reload();
  await watched.settled();
  ok('a chosen theme stays', dark !== light && (await colour()) === dark, `${light} ${dark}`);
  await page.click('#menu .theme');
  await watched.quiet('a small screen');
}

/** The session ends in the middle of a task. */
export async function expiry(watched, world) {
  const { page, context } = watched;
  await watched.visit('associations');
  await page.click('[data-command="association create"]');
  await page.fill('dialog[open] input[name=NAME]', 'Half typed');
  await context.clearCookies();
  await page.click('dialog[open] button[type=submit]');
  await page.waitForSelector('dialog.cover');
  ok('a session that is over asks for the password', true);
  ok(
    'and remembers the name',
    (await page.inputValue('dialog.cover input[name=name]')) === world.facts.adminUser,
  );
  const seen = await page.evaluate(() => {
    const box = document.querySelector('dialog.cover').getBoundingClientRect();
    return box.width >= innerWidth && box.height >= innerHeight;
  });
  ok('nothing is seen meanwhile', seen);
  await watched.signIn(world.facts.adminUser, world.facts.adminPassword);
  await page.waitForSelector('dialog[open] .notice.good');
  await page.click('dialog[open] .primary');
  await page.waitForFunction(() => /Half typed/.test((document.querySelector('main') || {}).textContent));
  ok('and what was in progress is done', true);
  await watched.quiet('a session that ended');
}

/** Automatic updates keep no session alive: an operator who goes away is signed out. */
export async function idleness(_, world) {
  const watched = await Watched.open(world, 'wide', { ownClock: true });
  const { page } = watched;
  await watched.signIn(world.facts.adminUser, world.facts.adminPassword);
  await watched.visit('wallets');
  await page.clock.fastForward('14:00');
  await page.keyboard.press('Shift');
  await page.clock.fastForward('14:00');
  const there = () => page.evaluate(() => fetch('api/session').then((answer) => answer.status));
  ok('who touches the page stays signed in', (await there()) === 200 && !(await page.$('dialog.cover')));
  await page.clock.fastForward('16:00');
  await page.waitForSelector('dialog.cover');
  ok('who is away for a quarter of an hour is signed out', true);
  ok('by the server too', (await there()) === 401);
  await watched.signIn(world.facts.adminUser, world.facts.adminPassword);
  ok('and comes back to where he was', page.url().endsWith('#/wallets'), page.url());
  await watched.quiet('a session that idled');
  await watched.context.close();
}
