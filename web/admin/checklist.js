// What an empty production environment still needs before its first payment, and the changelog of a new version.
import { h, quiet } from './dom.js';
import { list } from './list.js';
import { live } from './live.js';
import { inScope } from './scope.js';
import { S } from './strings.js';
import { can, read, takes } from './wire.js';

const C = S.checklist;
const HIDDEN = 'coffer-checklist-hidden';
const PRODUCTION = 'production';
const isReal = ({ environment }) => environment === undefined || environment === PRODUCTION;

/** In the order in which they are done. `values` narrow a list, so that one row shows that the step is done. */
const STEPS = [
  { key: 'asset', command: 'asset list', place: 'rates' },
  { key: 'association', command: 'association list', place: 'associations' },
  { key: 'application', command: 'application list', place: 'applications' },
  { key: 'wallet', command: 'wallet list', values: { status: 'Verified', limit: 1 }, place: 'wallets' },
  { key: 'connector', command: 'connector list', place: 'connectors' },
  { key: 'webhook', command: 'webhook list', values: { status: 'active' }, place: 'webhooks' },
  { key: 'backup', command: 'overview', done: ({ lastBackupAt }) => Boolean(lastBackupAt), place: 'checks' },
  { key: 'payment', command: 'payment list', values: { status: 'succeeded', limit: 1 }, place: 'payments' },
];

const PAYMENT = STEPS.at(-1).command;
const APPLICATIONS = 'application list';
const DEMO = 'sandbox clock'; // only a demo has this command
let isOver = false; // since the first payment, the list is not read again

function isHidden() {
  try {
    return localStorage.getItem(HIDDEN) === '1';
  } catch {
    return false;
  }
}

async function look({ command, values = {}, done }, signal) {
  const real = takes(command, 'environment') ? { environment: PRODUCTION } : {};
  const { data } = await read(command, { ...inScope(command), ...values, ...real }, signal);
  return done ? done(data) : data.some(isReal);
}

/** Whether the page is about production: by the chosen environment; on a demo, if it has applications of production. */
async function isAboutProduction(signal) {
  const { environment } = inScope(PAYMENT);
  if (environment || !can(APPLICATIONS)) return environment === PRODUCTION;
  if (!can(DEMO)) return true;
  const { data } = await read(APPLICATIONS, inScope(APPLICATIONS), signal);
  return data.some(isReal);
}

async function states(signal) {
  if (isOver || isHidden() || !can(PAYMENT) || !(await isAboutProduction(signal))) return [];
  if (await look(STEPS.at(-1), signal)) {
    isOver = true;
    return [];
  }
  const steps = STEPS.slice(0, -1).filter(({ command }) => can(command));
  const done = await Promise.all(steps.map((step) => look(step, signal)));
  return [...steps.map((step, i) => ({ ...step, isDone: done[i] })), { ...STEPS.at(-1), isDone: false }];
}

function stepRow({ key, place, isDone }, isNext) {
  const { text, why, next } = C.steps[key];
  return h(
    'li',
    { class: isDone ? 'done' : isNext ? 'next' : undefined, 'data-step': key },
    h('span', { class: 'mark', 'aria-hidden': 'true' }, isDone ? '✓' : ''),
    h('span', {}, h('strong', {}, text), h('span', { class: 'unseen' }, isDone ? C.done : C.open), h('span', { class: 'soft small' }, why)),
    !isDone && h('a', { class: 'button', href: `#/${place}` }, next),
  );
}

function hide(event) {
  try {
    localStorage.setItem(HIDDEN, '1');
  } catch {
    isOver = true; // storage is disabled: hidden until the page is reloaded
  }
  event.target.closest('section').remove();
}

function draw(steps) {
  if (steps.length === 0) return null;
  const open = steps.find(({ isDone }) => !isDone);
  return h(
    'section',
    { class: 'panel checklist', 'aria-labelledby': 'checklist' },
    h(
      'div',
      { class: 'row between' },
      h('h2', { id: 'checklist' }, C.title),
      h('span', { class: 'soft' }, C.progress(steps.filter(({ isDone }) => isDone).length, steps.length)),
      quiet(C.hide, hide),
    ),
    h('ol', { class: 'plain' }, steps.map((step) => stepRow(step, step === open))),
  );
}

/** The checklist, or nothing once production has had a payment. It is read every 15 seconds. */
export function checklistPart(context) {
  const container = h('div', {});
  live({ container, signal: context.signal, seconds: () => (isOver || isHidden() ? 0 : 15), fetch: states, draw, failed: () => null });
  return container;
}

// --- News of a version

const N = S.changes;
const COMMAND = 'changes';
const SEEN = 'coffer-version';

export function changesScreen(context) {
  list(context, {
    title: N.title,
    intro: N.intro,
    command: COMMAND,
    columns: [
      { key: 'change', card: 'title', wide: true },
      { key: 'kind', card: 'badge' },
      { key: 'release', card: 'sub' },
    ],
    key: (row) => row.change,
    tools: false,
    empty: [N.empty],
  });
}

/** A link to the changes, for operators who may read them. */
export const changesLink = () => can(COMMAND) && h('p', {}, h('a', { href: '#/changes' }, N.title));

/** A notice while this browser has only seen another version. It ends when the operator closes it. */
export function upgradeNotice(version) {
  let before;
  try {
    before = localStorage.getItem(SEEN);
    if (!before) localStorage.setItem(SEEN, version);
  } catch {
    return null; // storage is disabled: no version is known to be new
  }
  if (!before || before === version || !can(COMMAND)) return null;
  const close = (event) => {
    localStorage.setItem(SEEN, version);
    event.target.closest('.notice').remove();
  };
  return h(
    'div',
    { class: 'notice row between', 'data-upgrade': version },
    h('span', {}, N.upgraded(before, version), ' ', h('a', { href: '#/changes' }, N.title)),
    quiet(S.common.close, close),
  );
}
