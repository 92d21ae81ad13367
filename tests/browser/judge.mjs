// A page that is watched: errors of scripts, of the console and of the content policy are faults, and axe
// judges what is seen.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const shots = process.env.COFFER_SHOTS;

const WAIT_MS = 20_000; // for whatever is bound to come, on a machine under load

let failed = 0;
export const failures = () => failed;

export function ok(what, good, more = '') {
  process.stdout.write(`${good ? 'ok      ' : 'FAILED  '} ${what}${good || !more ? '' : `: ${more}`}\n`);
  if (!good) failed += 1;
}

const SIZES = { wide: { width: 1280, height: 900 }, narrow: { width: 360, height: 740 } };

// Refusals that a test asks for are no faults of the page.
const EXPECTED = /the server responded with a status of (400|401|403|404|409|422|429)/;

export class Watched {
  faults = [];
  violations = 0;

  static async open(world, size, { ownClock, ...options } = {}) {
    const self = new Watched();
    self.world = world;
    self.context = await world.browser.newContext({
      viewport: SIZES[size],
      colorScheme: 'light',
      reducedMotion: 'reduce', // colours half way between two are nobody's choice

      ...options,
    });
    self.page = await self.context.newPage();
    self.page.setDefaultTimeout(WAIT_MS);
    await self.watch();
    if (ownClock) await self.page.clock.install();
    await self.page.goto(world.admin);
    return self;
  }

  async watch() {
    const { page } = this;
    page.on('console', (message) => {
      if (message.type() === 'error' && !EXPECTED.test(message.text()))
        this.faults.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (fault) => this.faults.push(`script: ${fault}`));
    page.on('dialog', (dialog) => {
      this.faults.push(`a script opened a box: ${dialog.message()}`);
      dialog.dismiss();
    });
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.protocol.startsWith('http') && url.origin !== new URL(this.world.admin).origin) {
        this.faults.push(`a request to another host: ${url}`);
      }
    });
    await page.addInitScript(() => {
      window.policyBreaches = [];
      document.addEventListener('securitypolicyviolation', (event) => {
        window.policyBreaches.push(`${event.violatedDirective} ${event.blockedURI}`);
      });
    });
  }

  /** Everything since the last time this was asked is well. */
  async quiet(where) {
    const breaches = await this.page.evaluate(() => window.policyBreaches.splice(0));
    const owned = await this.page.evaluate(() => window.owned === true);
    const found = [...this.faults.splice(0), ...breaches, ...(owned ? ['a script ran'] : [])];
    ok(
      `${where}: no error, no breach of the content policy, nothing executed`,
      found.length === 0,
      found.join(' | '),
    );
  }

  async signIn(name, password, code = '') {
    const { page } = this;
    await page.waitForSelector('dialog.cover input[name=name]');
    await page.fill('dialog.cover input[name=name]', name);
    await page.fill('dialog.cover input[name=password]', password);
    await page.fill('dialog.cover input[name=code]', code);
    await page.click('dialog.cover button[type=submit]');
    await page.waitForSelector('dialog.cover', { state: 'detached' });
  }

  /** Goes to `#/place` and waits until what it loads is there. */
  async visit(place) {
    await this.page.evaluate(
      (to) =>
        new Promise((resolve) => {
          if (location.hash === to) resolve();
          window.addEventListener('hashchange', resolve, { once: true }); // after the page's own
          location.hash = to;
        }),
      `#/${place}`,
    );
    await this.settled();
  }

  /** After a fault: whatever is open. */
  leaveDialogs() {
    return this.page.evaluate(() =>
      document.querySelectorAll('dialog[open]').forEach((each) => each.close()),
    );
  }

  async settled() {
    await this.page.waitForFunction(() => {
      const main = document.querySelector('main .content');
      return main && main.querySelector('h1') && !/Loading…|Searching …/.test(main.textContent);
    });
  }

  async loadAxe() {
    if (!(await this.page.evaluate(() => 'axe' in window))) await this.page.evaluate(axeSource);
  }

  async axe(where, rules = undefined) {
    const { page } = this;
    await this.loadAxe();
    const found = await page.evaluate(async (only) => {
      const options = only ? { runOnly: { type: 'rule', values: only } } : {};
      const result = await window.axe.run(document, { ...options, resultTypes: ['violations'] });
      return result.violations.map(
        (each) =>
          `${each.id} ${each.nodes
            .slice(0, 2)
            .map((node) => node.target.join(' '))
            .join(', ')}`,
      );
    }, rules);
    ok(`${where}: axe finds nothing`, found.length === 0, found.join(' | '));
    return found;
  }

  async size(name) {
    await this.page.setViewportSize(SIZES[name]);
  }

  async scheme(name) {
    await this.page.emulateMedia({ colorScheme: name });
  }

  async shot(name) {
    if (shots)
      await this.page.screenshot({ path: `${shots}/${name.replace(/\W+/g, '-')}.png`, fullPage: true });
  }

  overflow() {
    return this.page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
  }
}

/** The judges themselves: each has to find what is put in front of it. */
export async function controls(watched) {
  const { page } = watched;
  await page.waitForSelector('dialog.cover');
  const before = failures();
  await page.evaluate(() => {
    const input = document.createElement('input');
    input.id = 'nameless';
    document.querySelector('dialog.cover').append(input);
    const script = document.createElement('script');
    script.textContent = 'window.owned = true';
    document.head.append(script);
  });
  await watched.loadAxe();
  const labels = await page.evaluate(
    async () =>
      (await window.axe.run(document, { runOnly: { type: 'rule', values: ['label'] } })).violations.length,
  );
  const breaches = await page.evaluate(() => window.policyBreaches.splice(0));
  const owned = await page.evaluate(() => window.owned === true);
  await page.evaluate(() => document.getElementById('nameless').remove());
  watched.faults = watched.faults.filter((fault) => !/Content Security Policy/.test(fault));
  ok('control: axe sees a field without a name', labels === 1);
  ok('control: an inline script is a breach, is seen and does not run', breaches.length > 0 && !owned);
  await watched.quiet('the sign-in page');
  await watched.axe('sign-in, light');
  await watched.scheme('dark');
  await watched.axe('sign-in, dark', ['color-contrast']);
  await watched.size('narrow');
  ok('sign-in fits 360 px', (await watched.overflow()) <= 0);
  await watched.shot('sign-in narrow dark');
  await watched.scheme('light');
  await watched.size('wide');
  await watched.shot('sign-in');
  return failures() === before;
}
