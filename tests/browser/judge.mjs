// A watched page: errors of scripts, the console and the content security policy are faults, and axe checks the
// displayed page.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const shots = process.env.COFFER_SHOTS;

const WAIT_MS = 20_000; // limit for every wait, on a machine under load

let passed = 0;
let failed = 0;
export const failures = () => failed;
process.on('exit', () => process.stdout.write(`${passed + failed} checks, ${failed} failed\n`));

/** A check. Those that pass are only counted, so that a failure stands out; COFFER_VERBOSE=1 prints them. */
export function ok(what, good, more = '') {
  if (good) passed += 1;
  else failed += 1;
  if (!good) process.stdout.write(`FAILED   ${what}${more ? `: ${more}` : ''}\n`);
  else if (process.env.COFFER_VERBOSE) process.stdout.write(`ok       ${what}\n`);
}

const SIZES = {
  wide: { width: 1280, height: 900 },
  narrow: { width: 360, height: 740 },
  phone: { width: 390, height: 844 },
};

// Rejections that a test causes are not faults of the page.
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
      reducedMotion: 'reduce', // a colour in the middle of a transition may lack contrast

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

  /** Checks that there were no faults since the last call. */
  async quiet(where) {
    const breaches = await this.page.evaluate(() => window.policyBreaches.splice(0));
    const owned = await this.page.evaluate(() => window.owned === true);
    const found = [...this.faults.splice(0), ...breaches, ...(owned ? ['a script ran'] : [])];
    ok(
      `${where}: no error, no violation of the content security policy, nothing executed`,
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

  /** Goes to `#/place` and waits until it is loaded. */
  async visit(place) {
    await this.page.evaluate(
      (to) =>
        new Promise((resolve) => {
          if (location.hash === to) resolve();
          window.addEventListener('hashchange', resolve, { once: true }); // after the page's own listener
          location.hash = to;
        }),
      `#/${place}`,
    );
    await this.settled();
  }

  /** Closes everything that is open after a fault. */
  leaveDialogs() {
    return this.page.evaluate(() =>
      document.querySelectorAll('dialog[open]').forEach((each) => each.close()),
    );
  }

  async settled() {
    await this.page.waitForFunction(() => {
      const main = document.querySelector('main .content');
      return main && main.querySelector('h1') && !/Loading…|Searching…/.test(main.textContent);
    });
  }

  async loadAxe() {
    if (!(await this.page.evaluate(() => 'axe' in window))) await this.page.evaluate(axeSource);
  }

  async axe(where) {
    await this.loadAxe();
    const found = await this.page.evaluate(async () => {
      // Only the first rows of a long table, because the others are similar.
      const what = { include: [['html']], exclude: [['tbody tr:nth-child(n + 9)']] };
      const result = await window.axe.run(what, { resultTypes: ['violations'] });
      return result.violations.map(({ id, nodes }) => `${id} ${nodes[0].target.join(' ')}`);
    });
    ok(`${where}: axe reports nothing`, found.length === 0, found.join(' | '));
    const over = await this.page.evaluate(() => {
      const dialog = document.querySelector('dialog[open]:not(.sheet, .drawer)');
      return innerHeight >= 900 && dialog ? dialog.scrollHeight - dialog.clientHeight : 0;
    });
    ok(`${where}: the dialog fits ${SIZES.wide.height} pixels`, over <= 0, `${over} pixels are below`);
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

/** Controls: each judge must detect a planted fault. */
export async function controls(watched) {
  const { page } = watched;
  await page.waitForSelector('dialog.cover');
  await watched.loadAxe();
  const found = await page.evaluate(async () => {
    const cover = document.querySelector('dialog.cover');
    const bad = document.createElement('div');
    const input = document.createElement('input');
    const pale = document.createElement('p');
    const wide = document.createElement('p');
    const script = document.createElement('script');
    pale.textContent = 'hardly seen';
    pale.style.color = '#ddd';
    wide.textContent = 'too wide';
    wide.style.width = '200vw';
    script.textContent = 'window.owned = true';
    bad.append(input, pale, wide, script);
    cover.append(bad);
    const { violations } = await window.axe.run(bad, { resultTypes: ['violations'] });
    document.body.append(wide);
    const overflow = document.documentElement.scrollWidth > document.documentElement.clientWidth;
    console.error('an error on the console');
    bad.remove();
    wide.remove();
    return { rules: violations.map(({ id }) => id), overflow, owned: window.owned === true };
  });
  ok('control: axe detects a field without a name', found.rules.includes('label'));
  ok('control: axe detects text with low contrast', found.rules.includes('color-contrast'));
  ok('control: content that is too wide is detected', found.overflow);
  const breaches = await page.evaluate(() => window.policyBreaches.splice(0));
  ok('control: an inline script violates the policy and does not run', breaches.length > 0 && !found.owned);
  const told = watched.faults.splice(0).filter((fault) => /an error on the console/.test(fault));
  ok('control: an error on the console is a fault', told.length === 1);
}

/** The sign-in screen. */
export async function signInPage(watched) {
  await watched.quiet('the sign-in page');
  await watched.axe('sign-in, light');
  await watched.shot('sign-in');
  await watched.scheme('dark');
  await watched.size('narrow');
  await watched.axe('sign-in, narrow, in the dark');
  ok('the sign-in screen fits 360 px', (await watched.overflow()) <= 0);
  await watched.shot('sign-in narrow dark');
  await watched.scheme('light');
  await watched.size('wide');
}
