// The frame of the page: session, menu, search, and the screen for each address.
import { announce, h, quiet, replace } from './dom.js';
import { copyPlainly, zone } from './format.js';
import { errorBox } from './notice.js';
import { openShortcuts, shortcut } from './palette.js';
import { scopeControls } from './scope.js';
import { S } from './strings.js';
import { menu as screensMenu, screenAt } from './screens.js';
import { claimDialog, enrolDialog, signInDialog } from './signin.js';
import { loadSession, session, signOut } from './wire.js';

const main = h('main', { id: 'main', tabindex: -1 });
const menu = h('nav', { id: 'menu', 'aria-label': S.app.screens });
const who = h('span', { class: 'who' });
let leaveScreen = new AbortController();

// --- Screens

/** Parses `#/payments/ID?status=...` into {path, parts, query}. */
function address() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
  const parts = path.split('/').filter(Boolean).map(decodeURIComponent);
  return {
    path: path || 'overview',
    parts: parts.length > 0 ? parts : ['overview'],
    query: new URLSearchParams(query || ''),
  };
}

function titled(title) {
  document.title = `${title} – coffer`;
}

function markMenu(noun) {
  for (const link of menu.querySelectorAll('a')) {
    if (link.getAttribute('href') === `#/${noun}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

async function showScreen() {
  leaveScreen.abort();
  leaveScreen = new AbortController();
  const { signal } = leaveScreen;
  const place = address();
  const screen = screenAt(place.parts);
  document.body.classList.remove('menu-open', 'stale');
  document.getElementById('menu-button').setAttribute('aria-expanded', 'false');
  markMenu(screen.menu);
  titled(screen.title);
  // A new element per screen: a screen that the operator has left can still draw, but only into its detached element.
  const own = h('div', { class: 'content' }, h('p', { class: 'soft', role: 'status' }, S.app.loading));
  replace(main, own);
  const context = {
    main: own,
    signal,
    titled,
    again: showScreen,
    go: (to) => {
      location.hash = to;
    },
    ...place,
  };
  try {
    await screen.show(context);
  } catch (fault) {
    if (!signal.aborted) replace(own, h('h1', {}, screen.title), errorBox(fault));
  }
}

function moved() {
  if (takeLink() || !main.isConnected) return;
  document.querySelectorAll('dialog[open]:not(.cover, [data-keep], :has(form[aria-busy]))').forEach((each) => each.close());
  showScreen();
  window.scrollTo(0, 0);
  main.focus({ preventScroll: true });
  announce(document.title);
}

// --- Frame

function drawMenu() {
  replace(
    menu,
    screensMenu().map(({ group, screens }) => [
      h('h2', {}, group),
      h(
        'ul',
        {},
        screens.map(({ noun, title }) => h('li', {}, h('a', { href: `#/${noun}` }, title))),
      ),
    ]),
    themeButton(),
    h('button', { type: 'button', class: 'quiet theme', onclick: openShortcuts }, S.shortcuts.open),
    h('p', { class: 'soft small zone' }, S.app.zone(...zone())),
  );
}

function themeButton() {
  const name = (theme) => S.app.theme[theme];
  const button = h('button', { type: 'button', class: 'quiet theme' }, name(window.cofferTheme.present()));
  button.addEventListener('click', () => {
    button.textContent = name(window.cofferTheme.next());
  });
  return button;
}

function searchForm() {
  const input = h('input', {
    type: 'search',
    name: 'text',
    id: 'find',
    placeholder: S.app.find,
    'aria-label': S.app.findLabel,
    'aria-keyshortcuts': '/',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const form = h('form', { role: 'search', class: 'find', 'aria-label': S.app.findLabel }, input);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (text) location.hash = `#/find?text=${encodeURIComponent(text)}`;
  });
  return form;
}

function drawFrame() {
  const menuButton = h(
    'button',
    {
      type: 'button',
      id: 'menu-button',
      class: 'quiet',
      'aria-expanded': 'false',
      'aria-controls': 'menu',
    },
    S.app.menu,
  );
  menuButton.addEventListener('click', () => {
    const open = document.body.classList.toggle('menu-open');
    menuButton.setAttribute('aria-expanded', String(open));
    if (open) menu.querySelector('a').focus();
  });
  const skip = h('a', { class: 'skip', href: '#main' }, S.app.skip);
  skip.addEventListener('click', (event) => {
    event.preventDefault();
    main.focus();
  });
  const scope = scopeControls(showScreen);
  replace(
    document.body,
    skip,
    h(
      'header',
      { id: 'top' },
      menuButton,
      h('a', { class: 'brand', href: '#/overview' }, 'coffer'),
      searchForm(),
      h('span', { class: 'stale-mark', role: 'status' }, S.app.stale),
      scope.controls,
      h('a', { class: 'who-link', href: '#/account' }, who),
      quiet(S.app.signOut, leaveNow),
    ),
    scope.banner,
    menu,
    main,
    h('div', { id: 'toasts', role: 'status', 'aria-live': 'polite' }),
    h('div', { id: 'announcer', class: 'unseen', 'aria-live': 'polite', role: 'status' }),
  );
}

function refreshFrame() {
  drawMenu();
  replace(who, session.operator.name, h('span', { class: 'soft' }, ` ${session.operator.role}`));
}

async function leaveNow() {
  leaveScreen.abort();
  await signOut().catch(() => {});
  session.operator = null;
  location.hash = '';
  location.reload();
}

// --- Session

/** Takes `#claim=...` of a one-time link and removes it from the address. */
function takeLink() {
  const found = /^#claim=(.+)$/.exec(location.hash);
  if (!found) return false;
  history.replaceState(null, '', location.pathname);
  claimDialog(decodeURIComponent(found[1])).then(begin);
  return true;
}

let asking;
/** Asks only once, even if several calls find that the session is over. */
session.onExpired = () => {
  asking ??= again(S.app.sessionOver).finally(() => {
    asking = undefined;
  });
  return asking;
};

async function again(why) {
  const before = session.operator;
  await signInDialog(why, before ? before.name : '');
  if (before && (session.operator.name !== before.name || session.operator.role !== before.role)) {
    location.reload();
    await new Promise(() => {}); // never resolves: the page reloads
  }
  refreshFrame();
}

const ACTIVE = 'coffer-admin-active';

function markActive() {
  try {
    localStorage.setItem(ACTIVE, String(Date.now()));
  } catch {
    markActive.at = Date.now();
  }
}

function lastActive() {
  try {
    return Number(localStorage.getItem(ACTIVE)) || Date.now();
  } catch {
    return markActive.at || Date.now();
  }
}

/** Automatic refreshes keep a session alive, so the page itself ends the session after a period without input. */
function watchIdle() {
  markActive();
  let marked = 0;
  for (const kind of ['pointerdown', 'keydown', 'wheel']) {
    document.addEventListener(
      kind,
      () => {
        if (Date.now() - marked < 5000) return;
        marked = Date.now();
        markActive();
      },
      { passive: true },
    );
  }
  setInterval(async () => {
    if (!session.operator || asking || Date.now() - lastActive() < session.operator.idleSeconds * 1000)
      return;
    await signOut().catch(() => {});
    markActive();
    session.onExpired();
  }, 5000);
}

function keyboard(event) {
  if (session.operator && main.isConnected && shortcut(event)) event.preventDefault();
  if (event.key === 'Escape' && document.body.classList.contains('menu-open')) {
    document.body.classList.remove('menu-open');
    const button = document.getElementById('menu-button');
    button.setAttribute('aria-expanded', 'false');
    button.focus();
  }
}

function begin() {
  drawFrame();
  refreshFrame();
  showScreen();
}

async function start() {
  document.addEventListener('keydown', keyboard);
  document.addEventListener('copy', copyPlainly);
  window.addEventListener('hashchange', moved);
  if (takeLink()) {
    watchIdle();
    return;
  }
  if (!(await loadSession())) await signInDialog();
  else if (session.operator.mustEnrol) await enrolDialog();
  watchIdle();
  begin();
}

start().catch((fault) => replace(document.body, h('main', {}, h('h1', {}, 'coffer'), errorBox(fault))));
