// Every command there is, with a form; and those that judge the box and its data.
import { ask } from './action.js';
import { h, replace } from './dom.js';
import { errorBox, note } from './notice.js';
import { heading } from './list.js';
import { answerNode } from './record.js';
import { act, can, session } from './wire.js';

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
      'aria-label': `Run ${row.command}`,
      onclick: () => ask({ command: row.command, button: 'Run' }),
    },
    'Run',
  );
}

export function commandsScreen(context) {
  const filter = h('input', {
    type: 'search',
    id: 'command-filter',
    autocomplete: 'off',
    placeholder: 'Part of a name',
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
                    h('span', { class: 'soft small' }, row.role),
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
      'All commands',
      `What the role ${session.operator.role} may run. The command line has the same commands.`,
    ),
    h(
      'div',
      { class: 'filters' },
      h('div', { class: 'field' }, h('label', { for: 'command-filter' }, 'Filter'), filter),
    ),
    place,
  );
  draw();
}

// --- Checks -------------------------------------------------------------------------------------------

const CHECKS = [
  {
    command: 'verify',
    title: 'Verify file',
    values: { quick: true },
    button: 'Verify now',
    text:
      'Checks every invariant of the ledger: sums, balances, hash chains. ' +
      'All commands has the full check of the SQLite structure.',
  },
  {
    command: 'backup',
    title: 'Back up',
    values: { verify: true },
    button: 'Back up now',
    text: 'Backs up the database into backup_dir while payments continue, and verifies the backup.',
  },
];

function verdict({ exitCode }) {
  return exitCode
    ? h('p', { class: 'notice bad', role: 'alert' }, 'The check found faults, listed below.')
    : h('p', { class: 'notice good', role: 'status' }, 'No faults found.');
}

function checkPanel({ command, title, text, values, button }) {
  const place = h('div', {});
  const run = h('button', { type: 'button', 'data-command': command }, button);
  run.addEventListener('click', async () => {
    run.disabled = true;
    replace(place, h('p', { class: 'soft', role: 'status' }, 'Working …'));
    try {
      const answer = await act(command, values);
      replace(place, verdict(answer), answer.note && note(answer.note), answerNode(answer, title));
    } catch (fault) {
      replace(place, errorBox(fault));
    } finally {
      run.disabled = false;
    }
  });
  return h('section', { class: 'panel' }, h('h2', {}, title), h('p', {}, text), run, place);
}

export function checksScreen(context) {
  replace(
    context.main,
    heading('Checks and data', 'Whether the box is well, and its data safe.'),
    CHECKS.filter(({ command }) => can(command)).map(checkPanel),
    h(
      'section',
      { class: 'panel' },
      h('h2', {}, 'On the machine itself'),
      h(
        'p',
        {},
        h('code', {}, 'coffer doctor'),
        ' examines settings, disk, clock, names and ports; ',
        h('code', {}, 'coffer restore'),
        ' makes a database from a backup; ',
        h('code', {}, 'coffer key rotate'),
        ' changes the master key. They need the server stopped or are about more than it, ',
        'so they are not on this page.',
      ),
    ),
  );
}
