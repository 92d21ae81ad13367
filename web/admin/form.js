// Builds forms from the arguments of commands.
import { freshId, h } from './dom.js';
import { label } from './format.js';
import { errorBox } from './notice.js';
import { manyOf, picker } from './picker.js';
import { S } from './strings.js';
import { can, read } from './wire.js';

const PAGING = new Set(['limit', 'cursor', 'before', 'after']);

/** Whether an argument is for paging. Forms omit these. */
export const isPaging = (argument) => PAGING.has(argument.name);

const isLong = (argument) => /^(message|reason|description|scopes)$/i.test(argument.name);
export const isTime = (argument) => argument.placeholder === 'TIME';

// --- Choices -------------------------------------------------------------------------------------------

/** Arguments that take the ID of one of a few objects: the operator chooses the object by name. */
const FEW = {
  association: { command: 'association list', name: (row) => row.name },
  application: { command: 'application list', name: (row) => `${row.name}, ${S.word[row.environment]}` },
  connector: { command: 'connector list', name: (row) => `${row.name}, ${S.word[row.environment]}` },
  webhook: { command: 'webhook list', name: (row) => row.url },
};

export function fewOf(argument) {
  const few = FEW[argument.name.toLowerCase()];
  return few && argument.kind !== 'choice' && can(few.command) ? few : undefined;
}

function option(value, text, present) {
  return h('option', { value, selected: value === present }, text);
}

/** A choice of objects. The current value is available immediately, the others when the server has sent them. */
function chooser(few, argument, present, blank, attributes) {
  const select = h(
    'select',
    attributes,
    option('', argument.required ? S.common.choose : blank, present),
    present && option(present, present, present),
  );
  read(few.command).then(
    ({ data }) => {
      const chosen = select.value;
      select.replaceChildren(
        select.options[0],
        ...data.map((row) => option(row.id, few.name(row), chosen)),
      );
    },
    () => {}, // the next request reports the error
  );
  return select;
}

// --- Fields -------------------------------------------------------------------------------------------

/** Converts a server time to the local zone, in the format of a datetime-local field. */
function localTime(value) {
  const at = new Date(value || NaN);
  if (Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function control(argument, value, blank, attributes, say) {
  const present = value ?? argument.fallback ?? '';
  const few = fewOf(argument);
  if (few) return chooser(few, argument, present, blank, attributes);
  if (argument.kind === 'toggle')
    return h('input', { ...attributes, type: 'checkbox', checked: Boolean(value) });
  if (argument.kind === 'choice') {
    return h(
      'select',
      attributes,
      !argument.fallback && option('', argument.required ? S.common.choose : blank, present),
      argument.placeholder
        .split('|')
        .map((word) => option(word, say ? say(argument, word) : S.word[word] || word, present)),
    );
  }
  if (isTime(argument))
    return h('input', { ...attributes, type: 'datetime-local', value: localTime(present) });
  if (isLong(argument)) return h('textarea', { ...attributes, rows: 3 }, present);
  return h('input', {
    ...attributes,
    type: argument.secret ? 'password' : 'text',
    value: present,
    placeholder: argument.example || undefined,
    autocomplete: argument.secret ? 'new-password' : 'off',
    spellcheck: 'false',
  });
}

export function labelled(input, text, hint) {
  const toggle = input.type === 'checkbox';
  const name = h('label', { for: input.id }, text);
  return h(
    'div',
    { class: toggle ? 'field toggle' : 'field' },
    toggle ? [input, name] : [name, input],
    hint && h('p', { class: 'hint', id: input.getAttribute('aria-describedby') }, hint),
  );
}

/** A field for the content of a file, which the operator chooses or pastes. */
function contentField(argument, text, hint) {
  const area = h('textarea', {
    id: freshId('field'),
    name: argument.name,
    rows: 8,
    required: argument.required,
    spellcheck: 'false',
    'data-content': '',
    'aria-describedby': hint ? freshId('hint') : undefined,
  });
  const file = h('input', { type: 'file', 'aria-label': S.common.chooseFile });
  file.addEventListener('change', async () => {
    const [chosen] = file.files;
    file.setCustomValidity('');
    if (!chosen) return;
    const bytes = await chosen.arrayBuffer();
    try {
      area.value = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch {
      if (argument.anyEncoding) {
        area.value = new TextDecoder('iso-8859-1').decode(bytes);
        return;
      }
      area.value = '';
      file.setCustomValidity(S.common.notUtf8);
      file.reportValidity();
    }
  });
  area.addEventListener('input', () => file.setCustomValidity(''));
  const made = labelled(area, text, hint);
  area.before(file);
  return made;
}

/** A field to choose one of many objects by name, with a hidden field for its ID. */
function pickerField(argument, value, text, hint) {
  const id = freshId('field');
  const describedBy = hint ? freshId('hint') : undefined;
  const { node } = picker(argument.name.toLowerCase(), {
    name: argument.name,
    id,
    value,
    describedBy,
    required: argument.required,
  });
  return h(
    'div',
    { class: 'field' },
    h('label', { for: id }, text),
    node,
    hint && h('p', { class: 'hint', id: describedBy }, hint),
  );
}

/** Whether a hint only repeats the label: `Name of the application`. */
const repeats = (hint, name) =>
  hint.toLowerCase() === name.toLowerCase() ||
  (hint.toLowerCase().startsWith(`${name.toLowerCase()} of `) && /^\w+ of (the|an?) \w+$/i.test(hint));

/**
 * A labelled field for an argument. `blank` is the text of the empty choice, `say(argument, word)` the text of the
 * others.
 */
export function field(argument, value, { blank = S.common.none, hint = argument.help, say } = {}) {
  const toggle = argument.kind === 'toggle';
  const optional = !argument.required && !toggle && h('span', { class: 'soft' }, S.common.optional);
  const text = [argument.label || label(argument.name), optional];
  const name = argument.label || label(argument.name);
  if (repeats(hint, name)) hint = '';
  if (argument.content) return contentField(argument, text, hint);
  if (manyOf(argument)) return pickerField(argument, value, text, hint);
  const attributes = {
    id: freshId('field'),
    name: argument.name,
    required: argument.required && !toggle,
    'aria-describedby': hint ? freshId('hint') : undefined,
  };
  return labelled(control(argument, value, blank, attributes, say), text, hint);
}

/** A labelled field that does not belong to an argument of a command. */
export function plainField({ name, text, hint, type = 'text', ...attributes }) {
  const input = h('input', {
    id: freshId('field'),
    name,
    type,
    'aria-describedby': hint ? freshId('hint') : undefined,
    ...attributes,
  });
  return labelled(input, text, hint);
}

/** A labelled field for several lines of text. */
export function textField({ name, text, hint, ...attributes }) {
  const input = h('textarea', {
    id: freshId('field'),
    name,
    rows: 3,
    'aria-describedby': hint ? freshId('hint') : undefined,
    ...attributes,
  });
  return labelled(input, text, hint);
}

// --- Values -------------------------------------------------------------------------------------------

function valueOf(element) {
  if (element.type === 'checkbox') return element.checked || undefined;
  if (element.value.trim() === '') return undefined;
  if ('content' in element.dataset) return element.value;
  if (element.type === 'datetime-local') return new Date(element.value).toISOString();
  return element.value.trim().replace(/\s*\n\s*/g, ' '); // arguments are single-line
}

/** The values of a form by name. A toggle is true or absent. */
export function valuesOf(form) {
  const out = {};
  for (const element of form.elements) {
    const value = element.name ? valueOf(element) : undefined;
    if (value !== undefined) out[element.name] = value;
  }
  return out;
}

const plainName = (name) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** Shows each error at the field that it names; returns the others. */
function showAtFields(form, errors) {
  return errors.filter(({ field: name, message }) => {
    const input = [...form.elements].find((each) => each.name && plainName(each.name) === plainName(name));
    const place = input && input.closest('.field');
    if (!place) return true;
    const id = freshId('error');
    // The label stands above, so the sentence begins with its verb.
    const own = message.startsWith(`${name} `) ? message.slice(name.length + 1) : message;
    place.append(h('p', { class: 'hint field-error', id, role: 'alert' }, sentence(own)));
    input.setAttribute('aria-invalid', 'true');
    input.setAttribute('aria-describedby', [input.getAttribute('aria-describedby'), id].filter(Boolean).join(' '));
    return false;
  });
}

const errorParts = ({ title, message, requestId }) => ({ title, message, requestId });

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.?!]$/.test(text) ? '' : '.');

function clearFields(form) {
  for (const each of form.querySelectorAll('.field-error')) each.remove();
  for (const each of form.querySelectorAll('[aria-invalid]')) each.removeAttribute('aria-invalid');
}

/**
 * Runs `work` while the form is disabled. Shows an error at the fields that it names, or in `place`. Returns whether it
 * succeeded.
 */
export async function submitting(form, place, work) {
  const buttons = form.querySelectorAll('button');
  for (const button of buttons) button.disabled = true;
  form.setAttribute('aria-busy', 'true');
  place.replaceChildren();
  clearFields(form);
  try {
    await work();
    return true;
  } catch (fault) {
    const fields = fault.fields || [];
    const others = showAtFields(form, fields);
    if (fields.length === 0 || others.length > 0) place.replaceChildren(errorBox({ ...errorParts(fault), fields: others }));
    return false;
  } finally {
    form.removeAttribute('aria-busy');
    for (const button of buttons) button.disabled = false;
    const wrong = form.querySelector('[aria-invalid]');
    if (wrong) wrong.focus();
  }
}
