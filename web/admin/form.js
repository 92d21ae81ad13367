// A form made from what a command takes.
import { freshId, h } from './dom.js';
import { label } from './format.js';

const SCOPE_WORDS = new Set(['limit', 'cursor', 'before']);

/** Arguments that belong to paging and not to a form. */
export const isPaging = (argument) => SCOPE_WORDS.has(argument.name);

const isLong = (argument) => /^(message|reason|description)$/i.test(argument.name);

function control(argument, value, attributes) {
  const present = value ?? argument.fallback ?? '';
  switch (argument.kind) {
    case 'toggle':
      return h('input', { ...attributes, type: 'checkbox', checked: Boolean(value) });
    case 'choice': {
      const words = argument.placeholder.split('|');
      const blank = !argument.required && !argument.fallback;
      return h(
        'select',
        attributes,
        blank && h('option', { value: '' }, 'Any'),
        words.map((word) => h('option', { value: word, selected: word === present }, word)),
      );
    }
    default:
      if (isLong(argument)) return h('textarea', { ...attributes, rows: 3 }, present);
      return h('input', {
        ...attributes,
        type: argument.secret ? 'password' : 'text',
        value: present,
        placeholder: argument.placeholder || undefined,
        autocomplete: argument.secret ? 'new-password' : 'off',
        spellcheck: 'false',
      });
  }
}

/** One labelled field for an argument. Blank choices mean "not given". */
export function field(argument, value, { named } = {}) {
  const key = freshId('field');
  const hint = freshId('hint');
  const toggle = argument.kind === 'toggle';
  const input = control(argument, value, {
    id: key,
    name: argument.name,
    required: argument.required && !toggle,
    'aria-describedby': argument.help ? hint : undefined,
  });
  const text = h(
    'label',
    { for: key },
    named || label(argument.name),
    !argument.required && !toggle && h('span', { class: 'soft' }, ' (optional)'),
  );
  return h(
    'div',
    { class: toggle ? 'field toggle' : 'field' },
    toggle ? [input, text] : [text, input],
    argument.help && h('p', { class: 'hint', id: hint }, argument.help),
  );
}

/** What a form holds, by name; toggles are true or left out. */
export function valuesOf(form) {
  const out = {};
  for (const element of form.elements) {
    if (!element.name) continue;
    if (element.type === 'checkbox') {
      if (element.checked) out[element.name] = true;
    } else if (element.value.trim() !== '') {
      out[element.name] = element.value.trim().replace(/\s*\n\s*/g, ' '); // commands take one line
    }
  }
  return out;
}

/** A plain field of a form that is no command's. */
export function plainField({ name, text, hint, type = 'text', ...attributes }) {
  const key = freshId('field');
  const hintId = freshId('hint');
  return h(
    'div',
    { class: 'field' },
    h('label', { for: key }, text),
    h('input', { id: key, name, type, 'aria-describedby': hint ? hintId : undefined, ...attributes }),
    hint && h('p', { class: 'hint', id: hintId }, hint),
  );
}

/** Runs `work` while the form waits; an error lands in `place`. Returns whether it went well. */
export async function submitting(form, place, work) {
  const buttons = form.querySelectorAll('button');
  for (const button of buttons) button.disabled = true;
  form.setAttribute('aria-busy', 'true');
  place.replaceChildren();
  try {
    await work();
    return true;
  } catch (fault) {
    const { errorBox } = await import('./notice.js');
    place.replaceChildren(errorBox(fault));
    return false;
  } finally {
    form.removeAttribute('aria-busy');
    for (const button of buttons) button.disabled = false;
  }
}
