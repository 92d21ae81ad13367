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
  'reset',
  'pause',
  'unrequire',
  'disable',
  'rotate-secret',
  'reset-otp',
  'reset-password',
  'delete',
  'resolve',
]);
const MAIN = new Set([
  'verify',
  'activate',
  'resume',
  'add',
  'create',
  'register',
  'resend',
  'recover',
  'enable',
  'invite',
]);
const LOOKS = new Set(['list', 'show', 'find', 'statement', 'deliveries', 'activity', 'attempts']);

const is =
  (...words) =>
  (status) =>
    words.includes(String(status).toLowerCase());
const isNot =
  (...words) =>
  (status) =>
    !words.includes(String(status).toLowerCase());

/** In which states a verb makes sense; the server decides in the end. */
const FITS = {
  verify: is('pending'),
  reject: is('pending'),
  activate: is('pending', 'suspended'),
  suspend: isNot('suspended'),
  resume: is('suspended', 'paused'),
  pause: is('active'),
  enable: is('disabled'),
  disable: is('enabled', 'active'),
  retry: is('initiated', 'processing', 'refund_pending', 'refundpending', 'refund pending'),
  resolve: is(
    'initiated',
    'processing',
    'refund_pending',
    'refundpending',
    'refund_failed',
    'refundfailed',
    'refund pending',
    'refund failed',
  ),
};

const BUTTONS = {
  'set-rate': 'Set rate',
  'set-fee': 'Set fee',
  'set-url': 'Set address',
  fund: 'Credit',
  scopes: 'Change scopes',
  role: 'Change role',
  rotate: 'Rotate secrets',
  require: 'Require a field',
  unrequire: 'Drop a field',
  limits: 'Set limits',
};

function rowsOf(noun) {
  return [...session.commands.values()].filter(
    (row) => row.command.startsWith(`${noun} `) && !LOOKS.has(row.command.split(' ')[1]),
  );
}

const isAboutOne = (row, argument) =>
  row.arguments.some((each) => each.kind === 'positional' && each.name === argument);

/** Buttons for one thing. `argument` is how its commands call it. */
export function verbs(
  noun,
  {
    value,
    status,
    argument = 'ID',
    about,
    again,
    only,
    except = [],
    quietly = true,
    preset = {},
    more = {},
  },
) {
  return rowsOf(noun)
    .map((row) => ({ row, verb: row.command.split(' ')[1] }))
    .filter(
      ({ row, verb }) =>
        isAboutOne(row, argument) && !except.includes(verb) && (!only || only.includes(verb)),
    )
    .filter(({ verb }) => status === undefined || !FITS[verb] || FITS[verb](status))
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
        quietly,
        done: again,
      }),
    );
}

/** Buttons that make or set something new: commands of the noun that name no existing thing. */
export function makers(noun, { again, argument = 'ID', titles = {}, except = [] } = {}) {
  return rowsOf(noun)
    .filter((row) => !isAboutOne(row, argument) && !except.includes(row.command.split(' ')[1]))
    .map((row) => {
      const verb = row.command.split(' ')[1];
      return action({
        command: row.command,
        title: titles[verb] || `${label(verb)} ${noun}`,
        main: MAIN.has(verb),
        danger: DANGER.has(verb),
        done: again,
      });
    });
}
