// Builds forms from the arguments of commands.
import { isOffered, isSearched, rowsOf, textOfRow, valueOfRow } from './choices.js';
import { freshId, h } from './dom.js';
import { label, localised, units } from './format.js';
import { errorBox } from './notice.js';
import { manyOf, picker } from './picker.js';
import { readAmount } from './reading.js';
import { S } from './strings.js';
import { can } from './wire.js';

const PAGING = new Set(['limit', 'cursor', 'before', 'after']);

/** Whether an argument is for paging. Forms omit these. */
export const isPaging = (argument) => PAGING.has(argument.name);

const isLong = (argument) => /^(message|reason|description|scopes)$/i.test(argument.name);
export const isTime = (argument) => argument.placeholder === 'TIME';

const isDay = (argument) => argument.placeholder === 'DATE';
const isNumber = ({ name, placeholder }) => /^(N|HOURS|SECONDS|DECIMALS)$/.test(placeholder || name);
const isAmount = ({ name, placeholder }) => /^(AMOUNT|RATE)$/.test(placeholder || name);

// --- Choices

/** The list of an argument that takes one of a few objects: the operator chooses the object by name. */
const fewOf = ({ from }) => (from && can(from) && !isSearched(from) ? from : undefined);

function option(value, text, present) {
  return h('option', { value, selected: value === present }, text);
}

/** A choice of objects. The current value is there at once, the others when they arrive or `narrow` gets their owner. */
function chooser(list, argument, present, blank, attributes) {
  const select = h(
    'select',
    { ...attributes, 'data-list': list, 'data-loading': true },
    option('', argument.required ? S.common.choose : blank, present),
    present && option(present, present, present),
  );
  const none = h('p', { class: 'hint', hidden: true }, S.form.noneOf[list] || S.form.noneYet);
  let all = [];
  let like;
  const draw = () => {
    const rows = all.filter((row) => isOffered(row, argument, like));
    // The only object of its kind needs no choice.
    const chosen = select.value || (argument.required && rows.length === 1 ? String(valueOfRow(rows[0])) : '');
    select.replaceChildren(
      select.options[0],
      ...rows.map((row) => option(valueOfRow(row), textOfRow(row), chosen)),
    );
    none.hidden = rows.length > 0;
    if (!none.isConnected) select.after(none);
    select.dispatchEvent(new Event('change', { bubbles: true }));
  };
  select.narrow = (object) => {
    like = object;
    if (argument.inside) all = (like && like[argument.inside]) || [];
    if (argument.inside || all.length > 0) draw();
  };
  (argument.inside ? Promise.resolve([]) : rowsOf(list))
    .then((rows) => {
      all = argument.inside ? all : rows;
      draw();
    }, () => {}) // the next request reports the error
    .then(() => select.removeAttribute('data-loading'));
  return select;
}

// --- Fields

/** Converts a server time to the local zone, in the format of a datetime-local field. */
function localTime(value) {
  const at = new Date(value || NaN);
  if (Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function control(argument, value, blank, attributes, say) {
  const present = value ?? argument.fallback ?? '';
  const list = fewOf(argument);
  if (list) return chooser(list, argument, present, blank, attributes);
  if (argument.kind === 'toggle')
    return h('input', { ...attributes, type: 'checkbox', checked: Boolean(value) });
  if (argument.values.length > 0) {
    return h(
      'select',
      attributes,
      !argument.fallback && option('', argument.required ? S.common.choose : blank, present),
      argument.values.map((each) =>
        option(each.code, say && argument.kind === 'choice' ? say(argument, each.code) : each.words, present),
      ),
    );
  }
  if (isTime(argument))
    return h('input', { ...attributes, type: 'datetime-local', value: localTime(present) });
  if (isDay(argument)) return h('input', { ...attributes, type: 'date', value: present });
  if (isLong(argument)) return h('textarea', { ...attributes, rows: 3 }, present);
  if (isAmount(argument)) {
    const placeholder = argument.example && localised(argument.example);
    return h('input', { ...attributes, 'data-amount': '', value: localised(present), placeholder });
  }
  return h('input', {
    ...attributes,
    type: argument.secret ? 'password' : 'text',
    value: present,
    inputmode: isNumber(argument) ? 'decimal' : undefined,
    placeholder: argument.example || undefined,
    autocomplete: argument.secret ? 'new-password' : 'off',
    spellcheck: 'false',
  });
}

/** The plain value of a field for an amount; undefined if the locale does not write it so. */
export const amountIn = (input) => readAmount(input.value, true);

/** Below a field for an amount: what it is read as, or that it is refused. */
function echoOf(input) {
  const echo = h('p', { class: 'hint', role: 'status', hidden: true, 'data-echo': '' });
  for (const [name, value] of [['inputmode', 'decimal'], ['autocomplete', 'off'], ['spellcheck', 'false']]) input.setAttribute(name, value);
  input.look = (asset = '') => {
    const amount = amountIn(input);
    const { wanted } = input.dataset;
    let wrong = '';
    if (amount === undefined && input.value.trim()) wrong = S.form.notAmount(localised('1234.5'));
    else if (amount && wanted && units(amount) !== units(wanted)) wrong = input.title;
    input.setCustomValidity(wrong);
    echo.className = wrong ? 'hint field-error' : 'hint';
    echo.textContent = wrong || (amount ? S.form.readAs(localised(amount), asset) : '');
    echo.hidden = !echo.textContent;
  };
  input.show = (value) => {
    input.value = localised(String(value ?? ''));
    input.look();
  };
  input.addEventListener('input', () => input.look());
  input.look();
  return echo;
}

/** `node` is what is shown in place of a field that has further parts. */
export function labelled(input, text, hint, node = input) {
  const toggle = input.type === 'checkbox';
  const name = h('label', { for: input.id }, text);
  return h(
    'div',
    { class: toggle ? 'field toggle' : 'field' },
    toggle ? [input, name] : [name, node],
    'amount' in input.dataset && echoOf(input),
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
  const { name, required } = argument;
  const describedBy = hint ? freshId('hint') : undefined;
  const { node, input } = picker(argument.from, { name, id: freshId('field'), value, describedBy, required });
  return labelled(input, text, hint, node);
}

/** Several values of a few: a box for each, and a hidden field with all of them. */
function boxesField(argument, value, text, hint) {
  const { separator } = argument;
  const hidden = h('input', { type: 'hidden', name: argument.name });
  const describedBy = hint ? freshId('hint') : undefined;
  const boxes = argument.values.map((each) => {
    const id = freshId('box');
    return { each, box: h('input', { type: 'checkbox', id, value: each.code }), id };
  });
  const collect = () => {
    hidden.value = boxes.filter(({ box }) => box.checked).map(({ each }) => each.code).join(separator);
  };
  hidden.show = (present) => {
    const wanted = new Set(String(present || '').split(separator));
    for (const { each, box } of boxes) box.checked = wanted.has(each.code);
    collect();
  };
  hidden.show(value ?? argument.fallback);
  const list = h(
    'div',
    { class: 'boxes' },
    boxes.map(({ each, box, id }) => h('div', { class: 'box' }, box, h('label', { for: id }, each.words))),
  );
  list.addEventListener('change', collect);
  return h(
    'fieldset',
    { class: 'field broad', 'aria-describedby': describedBy },
    h('legend', {}, text),
    hidden,
    list,
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
  const chosen = argument.fallback && argument.values.length > 0; // there is always a value
  const optional = !argument.required && !toggle && !chosen && h('span', { class: 'soft' }, S.common.optional);
  const name = argument.label || label(argument.name);
  const text = [name, optional];
  if (repeats(hint, name) || argument.separator || (argument.from && /^ID of /.test(hint))) hint = '';
  if (argument.content) return contentField(argument, text, hint);
  if (argument.separator) return boxesField(argument, value, text, hint);
  if (manyOf(argument)) return pickerField(argument, value, text, hint);
  const attributes = {
    id: freshId('field'),
    name: argument.name,
    required: argument.required && !toggle,
    'aria-describedby': hint ? freshId('hint') : undefined,
  };
  return labelled(control(argument, value, blank, attributes, say), text, hint);
}

function ownField(tag, { text, hint, ...attributes }) {
  const described = { id: freshId('field'), 'aria-describedby': hint ? freshId('hint') : undefined };
  return labelled(h(tag, { ...described, ...attributes }), text, hint);
}

/** A labelled field that does not belong to an argument of a command: {name, text, hint, ...attributes}. */
export const plainField = (spec) => ownField('input', { type: 'text', ...spec });

/** The same for several lines of text. */
export const textField = (spec) => ownField('textarea', { rows: 3, ...spec });

// --- Values

function valueOf(element) {
  if (element.type === 'checkbox') return element.checked || undefined;
  if (element.value.trim() === '') return undefined;
  if ('content' in element.dataset) return element.value;
  if ('amount' in element.dataset) {
    element.look();
    if (!element.validity.customError) return amountIn(element);
    throw new Error(element.validationMessage);
  }
  if (element.type === 'datetime-local') return new Date(element.value).toISOString();
  return element.value.trim().replace(/\s*\n\s*/g, ' '); // arguments are single-line
}

/** The values of a form by name. A toggle is true or absent. */
export function valuesOf(form) {
  const out = {};
  for (const element of form.elements) {
    const value = element.name && !element.disabled ? valueOf(element) : undefined;
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
  for (const each of form.querySelectorAll('.field-error:not([data-echo])')) each.remove();
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
    if (fault.isUnknown) form.dispatchEvent(new CustomEvent('unknown', { bubbles: true }));
    const fields = fault.fields || [];
    const others = showAtFields(form, fields);
    if (fields.length === 0 || others.length > 0) place.replaceChildren(errorBox({ ...errorParts(fault), fields: others }));
    return false;
  } finally {
    form.removeAttribute('aria-busy');
    for (const button of buttons) button.disabled = false;
    const wrong = form.querySelector('[aria-invalid]');
    if (wrong) form.dispatchEvent(new CustomEvent('wrong', { detail: wrong }));
    if (wrong) wrong.focus();
  }
}
