// All commands, each with a form; the screen Checks, with verification and backups; and the screen of a demo.
import { action, ask } from './action.js';
import { h, replace } from './dom.js';
import { ago, badge, exactTime } from './format.js';
import { heading, listPart } from './list.js';
import { live } from './live.js';
import { errorBox, note } from './notice.js';
import { resultNode } from './record.js';
import { S } from './strings.js';
import { act, can, read, session } from './wire.js';

/** Commands by their noun, in the order of the help. */
function groups() {
  const out = new Map();
  for (const row of session.commands.values()) {
    const [noun, verb] = row.command.split(' ');
    const group = verb ? noun : 'other';
    if (!out.has(group)) out.set(group, []);
    out.get(group).push(row);
  }
  return out;
}

function runButton(row) {
  return h(
    'button',
    {
      type: 'button',
      'data-command': row.command,
      'aria-label': S.commands.runOf(row.command),
      onclick: () => ask({ command: row.command, button: S.commands.run }),
    },
    S.commands.run,
  );
}

export function commandsScreen(context) {
  const filter = h('input', {
    type: 'search',
    id: 'command-filter',
    autocomplete: 'off',
    placeholder: S.commands.part,
  });
  const place = h('div', {});
  const draw = () => {
    const text = filter.value.trim().toLowerCase();
    const fits = (row) => `${row.command} ${row.summary}`.toLowerCase().includes(text);
    replace(
      place,
      [...groups()].map(([group, rows]) => {
        const shown = rows.filter(fits);
        return (
          shown.length > 0 &&
          h(
            'section',
            { class: 'panel' },
            h('h2', {}, group),
            h(
              'ul',
              { class: 'commands' },
              shown.map((row) =>
                h(
                  'li',
                  {},
                  h(
                    'div',
                    {},
                    h('code', {}, `coffer ${row.command}`),
                    ' ',
                    h('span', { class: 'soft small' }, S.word[row.role]),
                    h('p', {}, row.summary),
                  ),
                  runButton(row),
                ),
              ),
            ),
          )
        );
      }),
    );
  };
  filter.addEventListener('input', draw);
  replace(
    context.main,
    heading(
      S.menu.commands,
      S.commands.intro(S.word[session.operator.role]),
    ),
    h(
      'div',
      { class: 'filters' },
      h('div', { class: 'field' }, h('label', { for: 'command-filter' }, S.commands.filter), filter),
    ),
    place,
  );
  draw();
}

// --- Checks

const CHECKS = [
  {
    command: 'verify',
    title: S.checks.verify,
    values: { quick: true },
    button: S.checks.verifyNow,
    text: S.checks.verifyText,
  },
  {
    command: 'backup',
    title: S.checks.backUp,
    values: { verify: true },
    button: S.checks.backUpNow,
    text: S.checks.backUpText,
  },
];

function verdict({ exitCode }) {
  return exitCode
    ? h('p', { class: 'notice bad', role: 'alert' }, S.checks.faults)
    : h('p', { class: 'notice good', role: 'status' }, S.checks.noFaults);
}

function checkPanel({ command, title, text, values, button }) {
  const place = h('div', {});
  const run = h('button', { type: 'button', 'data-command': command }, button);
  run.addEventListener('click', async () => {
    run.disabled = true;
    replace(place, h('p', { class: 'soft', role: 'status' }, S.checks.working));
    try {
      const result = await act(command, values);
      replace(place, verdict(result), result.note && note(result.note), resultNode(result, title));
    } catch (fault) {
      replace(place, errorBox(fault));
    } finally {
      run.disabled = false;
    }
  });
  return h('section', { class: 'panel' }, h('h2', {}, title), h('p', {}, text), run, place);
}

const backupsPart = (context) =>
  listPart(context, {
    title: S.checks.backups,
    command: 'backups list',
    tools: false,
    columns: [
      { key: 'file', card: 'title' },
      { key: 'madeAt', label: S.checks.age, card: 'sub', render: (row) => ago(row.madeAt) },
      { key: 'bytes', label: S.checks.size, card: 'value' },
      { key: 'verified', card: 'badge', render: (row) => row.verified && badge(row.verified) },
      'checksum',
    ],
    key: (row) => row.file,
    rowActions: (row) =>
      ['backups download', 'backups signature'].map((command) =>
        action({ command, about: row.file, fixed: { NAME: row.file } }),
      ),
    empty: [S.checks.noBackups, S.checks.noBackupsNext],
  });

export function checksScreen(context) {
  replace(
    context.main,
    heading(S.menu.checks, S.checks.intro),
    CHECKS.filter(({ command }) => can(command)).map(checkPanel),
    h(
      'section',
      { class: 'panel' },
      h('h2', {}, S.checks.backups),
      backupsPart(context).place,
      can('backups signature') && h('p', { class: 'soft' }, S.checks.signatureText),
    ),
    h(
      'section',
      { class: 'panel' },
      h('h2', {}, S.checks.machine),
      h(
        'p',
        {},
        S.checks.machineText.map(([command, text]) => [h('code', {}, command), text]),
      ),
    ),
  );
}

// --- The clock of a demo, and its test data

const B = S.sandbox;

const panel = (title, text, ...content) =>
  h('section', { class: 'panel' }, h('h2', {}, title), h('p', {}, text), content);

export function sandboxScreen(context) {
  const clock = h('p', {});
  const ticked = live({
    container: clock,
    signal: context.signal,
    seconds: 5,
    fetch: async (signal) => (await read('sandbox clock', {}, signal)).data,
    draw: ({ now, advancedMs }) => [B.now, exactTime(now), B.ahead(Math.round(advancedMs / 60_000))],
    failed: errorBox,
  });
  const row = (...content) => h('div', { class: 'row below' }, content);
  replace(
    context.main,
    heading(S.menu.sandbox, B.intro),
    panel(B.clock, B.clockText, clock, row(action({ command: 'sandbox advance', quietly: true, done: ticked }))),
    panel(
      B.fixtures,
      B.fixturesText,
      row(
        action({ command: 'apply' }),
        action({ command: 'payment bulk' }),
        action({ command: 'trigger' }),
      ),
    ),
  );
}
