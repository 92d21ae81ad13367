// Actions: a button, a dialog that describes the consequence, the command, and its result.
import { freshId, h, replace, save } from './dom.js';
import { field, isPaging, submitting, valuesOf } from './form.js';
import { label } from './format.js';
import { note, toast } from './notice.js';
import { resultNode, hasSecret, terms } from './record.js';
import { S } from './strings.js';
import { act, can, session, spoken } from './wire.js';

/** A modal dialog with a heading. While `keep` is set, Escape does not close it, because it shows secrets only once. */
export function dialog(title, ...content) {
  const heading = freshId('dialog');
  const box = h('dialog', { 'aria-labelledby': heading }, h('h2', { id: heading }, title), ...content);
  const state = { keep: false };
  const opener = document.activeElement;
  box.addEventListener('cancel', (event) => {
    if (state.keep) event.preventDefault();
  });
  box.addEventListener('close', () => {
    box.remove();
    if (opener && opener.isConnected) opener.focus();
  });
  document.body.append(box);
  box.showModal();
  return { box, state, close: () => box.close() };
}

/** The fixed values, which identify the object of the command. */
function fixedList(command, fixed) {
  const shown = command.arguments.filter((argument) => fixed[argument.name] !== undefined);
  if (shown.length === 0) return null;
  return terms(
    shown.map((argument) => [
      argument.label || label(argument.name),
      h('span', { class: 'id' }, String(fixed[argument.name])),
    ]),
  );
}

function showResult(open, title, result, finish, next) {
  const secrets = !Array.isArray(result.data) && hasSecret(result.data);
  open.state.keep = secrets;
  if (secrets) open.box.dataset.keep = '';
  const further = next && !result.waits && next(result, open.close);
  const close = h(
    'button',
    { type: 'button', class: further ? 'quiet' : 'primary', onclick: open.close },
    secrets ? S.common.secretsCopied : S.common.close,
  );
  const heading = open.box.querySelector('h2');
  replace(
    open.box,
    heading,
    h(
      'p',
      { class: `notice ${secrets || result.waits ? 'warn' : 'good'}`, role: 'status' },
      secrets ? S.common.secretsDone : result.waits ? result.note || S.common.waits : S.common.done,
    ),
    result.note && !secrets && !result.waits && !further && note(result.note),
    resultNode(result, title),
    h('div', { class: 'row end' }, close, further),
  );
  open.box.addEventListener('close', finish, { once: true });
  (further || close).focus();
}

/** Reports that a command was done, or that it waits for a second operator. */
export function said(result, done) {
  if (result && result.waits) toast(result.note || S.common.waits, 'warn');
  else toast(done);
}

/**
 * Shows the form of a command, runs the command and shows the result. {command, fixed: values that cannot be changed,
 * preset: values that can, title: replaces the label from the table, about, danger, quietly: shows no result unless
 * it contains a secret, done(result), next(result, close): a button for the next step}.
 */
export function ask({
  command: path,
  fixed = {},
  preset = {},
  title,
  button,
  danger,
  quietly,
  done,
  next,
  about,
}) {
  const command = session.commands.get(path);
  const name = title || command.label || command.summary;
  const open = dialog(about ? `${name}: ${about}` : name);
  const place = h('div', {});
  const wanted = command.arguments.filter(
    (argument) => fixed[argument.name] === undefined && !isPaging(argument),
  );
  const form = h(
    'form',
    { class: 'stack' },
    h('p', {}, spoken(command.consequence || `${command.summary}.`, path)),
    command.details && h('p', { class: 'soft' }, spoken(command.details, path)),
    fixedList(command, fixed),
    wanted.map((argument) => field(argument, preset[argument.name], { hint: spoken(argument.help, path) })),
    place,
    h(
      'div',
      { class: 'row end' },
      h('button', { type: 'button', class: 'quiet', onclick: open.close }, S.common.cancel),
      h('button', { type: 'submit', class: danger ? 'danger' : 'primary' }, button || name),
    ),
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    let result;
    const went = await submitting(form, place, async () => {
      result = await act(path, { ...valuesOf(form), ...fixed });
    });
    if (!went) return;
    const finish = () => done && done(result);
    if (result.data && result.data.download) {
      open.box.addEventListener('close', finish, { once: true });
      open.close();
      save(result.data);
      toast(S.common.saving(result.data.file));
    } else if (quietly && !(result.data && hasSecret(result.data))) {
      open.box.addEventListener('close', finish, { once: true });
      open.close();
      said(result, S.common.toast(about ? `${name}: ${about}` : name));
    } else {
      showResult(open, name, result, finish, next);
    }
  });
  open.box.append(form);
  const first = form.querySelector('input, select, textarea') || form.querySelector('button[type=submit]');
  first.focus();
}

/** A button for a command, or null if the operator may not run it. */
export function action(options) {
  if (!can(options.command)) return null;
  const { label, summary } = session.commands.get(options.command);
  const title = options.title || label || summary;
  return h(
    'button',
    {
      type: 'button',
      class: options.danger ? 'quiet danger-text' : options.main ? 'primary' : 'quiet',
      'data-command': options.command,
      'aria-label': options.about ? `${title}: ${options.about}` : undefined,
      onclick: () => ask(options),
    },
    title,
  );
}
