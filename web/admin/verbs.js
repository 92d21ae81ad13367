// The actions of a thing, from the table of commands: `wallet verify`, `application rotate`, ...
// A command that is added later has its button without a line here.
import { action } from './action.js';
import { label } from './format.js';
import { session } from './wire.js';

const DANGER = new Set([
  'suspend',
  'reject',
  'remove',
  'rotate',
  'rotate-secret',
  'reset',
  'reset-otp',
  'reset-password',
  'pause',
  'unrequire',
  'disable',
  'resolve',
]);
const MAIN = new Set(['verify', 'activate', 'resume', 'recover']);
const LOOKS = new Set(['list', 'show', 'find', 'statement', 'deliveries', 'quotas']);

/** In which states a verb makes sense; the server decides in the end. */
const FITS = {
  verify: ['pending'],
  reject: ['pending'],
  activate: ['pending', 'suspended'],
  suspend: ['active', 'pending', 'invited', 'without authenticator'],
  resume: ['suspended', 'paused'],
  pause: ['active'],
  disable: ['active'],
  retry: ['initiated', 'processing', 'refund_pending'],
  resolve: ['initiated', 'processing', 'refund_pending', 'refund_failed'],
};

const BUTTONS = {
  'set-rate': 'Set rate',
  'set-fee': 'Set fee',
  'set-url': 'Set address',
  'set-quota': 'Set a quota',
  fund: 'Credit',
  scopes: 'Change scopes',
  role: 'Change role',
  rotate: 'Rotate secrets',
  require: 'Require a field',
  unrequire: 'Drop a field',
  test: 'Send a test',
  limits: 'Set limits',
  'reset-otp': 'New authenticator',
  'reset-password': 'New password',
};

function rowsOf(noun) {
  return [...session.commands.values()].filter(
    (row) => row.command.startsWith(`${noun} `) && !LOOKS.has(row.command.split(' ')[1]),
  );
}

const isAboutOne = (row, argument) =>
  row.arguments.some((each) => each.kind === 'positional' && each.name === argument);

/**
 * Buttons for one thing. `argument` is how its commands call it and `value` which it is; `more` are values that
 * are settled too, `preset` by verb those that may be changed.
 */
export function verbs(
  noun,
  { value, status, argument = 'ID', about, again, only, except = [], preset = {}, more = {} },
) {
  return rowsOf(noun)
    .map((row) => ({ row, verb: row.command.split(' ')[1] }))
    .filter(
      ({ row, verb }) =>
        isAboutOne(row, argument) && !except.includes(verb) && (!only || only.includes(verb)),
    )
    .filter(({ verb }) => status === undefined || !FITS[verb] || FITS[verb].includes(status.toLowerCase()))
    .sort((a, b) => MAIN.has(b.verb) - MAIN.has(a.verb) || DANGER.has(a.verb) - DANGER.has(b.verb))
    .map(({ row, verb }) =>
      action({
        command: row.command,
        fixed: { [argument]: value, ...more },
        preset: preset[verb],
        title: BUTTONS[verb] || label(verb),
        about,
        danger: DANGER.has(verb),
        main: MAIN.has(verb),
        quietly: true,
        done: again,
      }),
    );
}
