// Actions: a button, a dialog that describes the consequence, the command, and its result.
import { forgetRows } from './choices.js';
import { freshId, h, quiet, replace, save } from './dom.js';
import { isPaging, submitting, valuesOf } from './form.js';
import { label } from './format.js';
import { note, toast } from './notice.js';
import { resultNode, hasSecret, terms } from './record.js';
import { Fields, keyOf, nameNode } from './steps.js';
import { S } from './strings.js';
import { act, can, session, spoken } from './wire.js';

/**
 * A modal dialog with a heading. Nothing closes it while its form waits for a response; while `keep` is set, Escape does
 * not, because it shows secrets only once. After an unknown outcome, closing it refreshes the page behind it.
 */
export function dialog(title, ...content) {
  const heading = freshId('dialog');
  const box = h('dialog', { 'aria-labelledby': heading }, h('h2', { id: heading }, title), ...content);
  const state = { keep: false };
  const opener = document.activeElement;
  const isBusy = () => box.querySelector('form[aria-busy]') !== null;
  const hold = (event) => {
    if (state.keep || isBusy()) event.preventDefault();
  };
  box.addEventListener('cancel', hold);
  // A browser obeys the second Escape in a row whatever `cancel` says. The button that had the focus is disabled.
  const gone = new AbortController();
  document.addEventListener('keydown', (event) => event.key === 'Escape' && hold(event), { signal: gone.signal });
  box.addEventListener('unknown', () => (state.unknown = true));
  box.addEventListener('close', () => {
    box.remove();
    gone.abort();
    if (state.unknown) document.dispatchEvent(new Event('refresh'));
    if (opener && opener.isConnected) opener.focus();
  });
  document.body.append(box);
  box.showModal();
  const close = (event) => {
    if (event && isBusy()) event.preventDefault();
    else box.close();
  };
  return { box, state, close };
}

/** The fixed values, except the object in the title of the dialog. */
function fixedList(command, fixed, about) {
  const key = keyOf(command);
  const shown = command.arguments.filter(
    (argument) => fixed[argument.name] !== undefined && !(about && key && argument.name === key.name),
  );
  if (shown.length === 0) return null;
  return terms(
    shown.map((argument) => [argument.label || label(argument.name), nameNode(argument, fixed[argument.name])]),
  );
}

const LONG = 160; // characters of details that are shown at once

/** Sentences about the command: what follows from it, and the rest on request. */
function aboutCommand(command, path) {
  const details = command.details && spoken(command.details, path);
  return [
    h('p', {}, spoken(command.consequence || `${command.summary}.`, path)),
    details && details.length < LONG && h('p', { class: 'soft' }, details),
    details &&
      details.length >= LONG &&
      h('details', {}, h('summary', {}, S.form.about), h('p', { class: 'soft' }, details)),
  ];
}

function showResult(open, title, result, next) {
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
 * it contains a secret, asset: of amounts without a field for it, hint, done(result), next(result, close): a button for the next step}.
 */
export function ask({ command: path, fixed = {}, preset = {}, title, button, danger, quietly, done, next, about, asset, hint }) {
  const command = session.commands.get(path);
  const name = title || command.label || command.summary;
  const open = dialog(about ? `${name}: ${about}` : name);
  const place = h('div', {});
  const fields = new Fields(command, { fixed, preset, asset, wanted: (argument) => !isPaging(argument) });
  const preview = h('div', { class: 'stack' });
  const head = h('div', { class: 'stack' }, aboutCommand(command, path), fixedList(command, fixed, about), hint && h('p', {}, hint));
  const back = quiet(S.form.back, () => go(seen ? fields.at : fields.at - 1));
  const submit = h('button', { type: 'submit' });
  const form = h(
    'form',
    { class: 'stack', novalidate: true }, // `complete` opens the fold with a wrong field first
    head,
    fields.node,
    preview,
    place,
    h('div', { class: 'row end' }, quiet(S.common.cancel, open.close), back, submit),
  );
  if (fields.broad) open.box.classList.add('wide');
  let seen; // the result of the preview
  /** Shows a step, or what the preview found. */
  const go = (stage) => {
    const previewed = stage === 'preview';
    if (!previewed) seen = undefined;
    form.dataset.stage = stage;
    head.hidden = previewed || stage > 0;
    fields.node.hidden = previewed;
    preview.hidden = !previewed;
    if (!previewed) fields.show(stage);
    back.hidden = stage === 0;
    const ends = previewed || (fields.last && !command.preview);
    submit.className = ends && danger ? 'danger' : 'primary';
    submit.textContent = ends ? button || name : fields.last ? S.form.preview : S.form.next;
  };
  form.addEventListener('wrong', ({ detail }) => {
    if (seen) go(fields.at);
    fields.reveal(detail);
    if (form.dataset.stage !== String(fields.at)) go(fields.at);
  });
  form.addEventListener('unknown', () => {
    if (seen) replace(preview, resultNode(seen, name)); // without its note that nothing was changed
    forgetRows();
  });
  const sent = () => {
    const carried = command.arguments.filter((argument) => argument.carried && seen && seen.data[argument.member]);
    return {
      ...fields.sent(valuesOf(form)),
      ...fixed,
      ...Object.fromEntries(carried.map((argument) => [argument.name, seen.data[argument.member]])),
    };
  };
  const look = () =>
    submitting(form, place, async () => {
      const found = await act(path, { ...sent(), [command.preview]: true });
      replace(preview, found.note && note(found.note), resultNode(found, name));
      go('preview');
      seen = found;
    });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (!seen && !fields.complete()) return;
    if (!seen && !fields.last) {
      go(fields.at + 1);
      return;
    }
    if (command.preview && !seen) {
      if (await look()) submit.focus();
      return;
    }
    let result;
    const went = await submitting(form, place, async () => {
      result = await act(path, sent());
      forgetRows();
    });
    if (!went) return;
    open.box.addEventListener('close', () => done && done(result), { once: true });
    if (result.data && result.data.download) {
      open.close();
      save(result.data);
      toast(S.common.saving(result.data.file));
    } else if (quietly && !(result.data && hasSecret(result.data))) {
      open.close();
      said(result, S.common.toast(about ? `${name}: ${about}` : name));
    } else {
      showResult(open, name, result, next);
    }
  });
  open.box.append(form);
  fields.follow();
  go(0);
  fields.fillIn();
  for (const argument of command.arguments) fields.narrow(argument);
  if (!form.contains(document.activeElement)) submit.focus();
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
