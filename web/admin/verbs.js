// The actions of an object, from the table of commands: `wallet verify`, `application rotate`, ...
// A new command gets a button without a change here; the table has its label.
import { action } from './action.js';
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
  'reverse',
  'end',
]);
const MAIN = new Set(['approve', 'verify', 'activate', 'resume', 'recover']);
const LOOKS = new Set(['list', 'show', 'find', 'count', 'statement', 'deliveries', 'delivery', 'quotas']);

/** States in which a button is offered. The server makes the final decision. */
const FITS = {
  verify: ['pending'],
  approve: ['waiting'],
  reject: ['pending', 'waiting'],
  activate: ['pending', 'suspended'],
  suspend: ['active', 'pending', 'invited', 'without authenticator'],
  resume: ['suspended', 'paused'],
  pause: ['active'],
  disable: ['active'],
  update: ['active'],
  'rotate-secret': ['active'],
  test: ['active'],
  recover: ['active'],
  retry: ['initiated', 'processing', 'refund_pending', 'failed', 'expired', 'succeeded', 'refunded', 'refund_failed'],
  resolve: ['initiated', 'processing', 'refund_pending', 'refund_failed'],
  reverse: ['succeeded', 'refunded'],
  role: ['active', 'invited', 'without authenticator'],
  'end-sessions': ['active'],
  end: ['active', 'suspended'],
};

/** The commands of a noun, each with its verb. */
function rowsOf(noun) {
  return [...session.commands.values()]
    .filter((row) => row.command.startsWith(`${noun} `))
    .map((row) => ({ row, verb: row.command.slice(noun.length + 1) }))
    .filter(({ verb }) => !verb.includes(' ') && !LOOKS.has(verb)); // not the start of a longer name
}

const isAboutOne = (row, argument) =>
  row.arguments.some((each) => each.kind === 'positional' && each.name === argument);

/** Verbs that mean the same for several objects: without secrets to keep, and without values of each object. */
const FOR_MANY = new Set(['verify', 'reject', 'approve', 'activate', 'suspend', 'pause', 'resume', 'disable', 'retry', 'resend']);

const fits = (verb, status) => status === undefined || !FITS[verb] || FITS[verb].includes(status.toLowerCase());

/** The commands that can run on several objects of a kind: [{command, title, danger, fits(status)}]. */
export function manyVerbs(noun, { argument = 'ID', only, titles = {} }) {
  return rowsOf(noun)
    .filter(({ row, verb }) => FOR_MANY.has(verb) && isAboutOne(row, argument) && (!only || only.includes(verb)))
    .map(({ row, verb }) => ({
      command: row,
      title: titles[verb] || row.label || row.summary,
      danger: DANGER.has(verb),
      fits: (status) => fits(verb, status),
    }));
}

/**
 * Buttons for an object. `argument` is the argument of the commands that takes its ID, `value`. `more` has further
 * fixed values, and `preset` (by verb) values that the operator can change. `after` (by verb) replaces `again`; `notes`
 * (by verb) are shown above the fields, and `asset` is that of the amounts.
 */
export function verbs(
  noun,
  { value, status, argument = 'ID', about, again, only, except = [], preset = {}, more = {}, titles = {}, after = {}, notes = {}, asset },
) {
  return rowsOf(noun)
    .filter(
      ({ row, verb }) =>
        isAboutOne(row, argument) && !except.includes(verb) && (!only || only.includes(verb)),
    )
    .filter(({ verb }) => fits(verb, status))
    .sort((a, b) => MAIN.has(b.verb) - MAIN.has(a.verb) || DANGER.has(a.verb) - DANGER.has(b.verb))
    .map(({ row, verb }) =>
      action({
        command: row.command,
        fixed: { [argument]: value, ...more },
        preset: preset[verb],
        title: titles[verb],
        about,
        asset,
        hint: notes[verb],
        danger: DANGER.has(verb),
        main: MAIN.has(verb),
        quietly: true,
        done: after[verb] || again,
      }),
    );
}
