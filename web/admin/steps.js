// Arranges the fields of a command: in steps, with rare ones under "More"; a field that depends on a choice appears
// with it; present values are filled in. Everything follows from the rows of the table of commands.
import { nameOf, presentOf, recordOf } from './choices.js';
import { announce, h } from './dom.js';
import { amountIn, field } from './form.js';
import { S } from './strings.js';
import { inScope } from './scope.js';
import { spoken } from './wire.js';

/** A form with more fields folds those that few need. */
const SHORT = 5;

const isChosen = ({ fallback, values }) => Boolean(fallback && values.length > 0); // there is always a value
const isOpen = (argument) => argument.required || argument.usual || isChosen(argument);
const isBroad = ({ content, separator, name }) => content || separator || /^(message|reason|description)$/.test(name);

/** An ID for a payment that an operator makes: the day, and enough to be unique. */
function freshTransactionId() {
  const random = crypto.getRandomValues(new Uint32Array(2));
  return `OP-${new Date().toISOString().slice(0, 10)}-${[...random].map((each) => each.toString(36)).join('')}`;
}

const proposed = ({ name, required }) => (name === 'transaction-id' && required ? freshTransactionId() : undefined);

/** Whether one of the conditions `driver=http|sandbox,tolerance-bps` holds. */
function holds(when, values) {
  return when.split(',').some((clause) => {
    const [name, wanted] = clause.split('=');
    const value = values[name];
    return wanted ? wanted.split('|').includes(String(value ?? '')) : Boolean(value);
  });
}

/** The fields of an argument, with the toggle that removes its value left out: an emptied field does that. */
function shownArguments(command, fixed) {
  const kept = command.present || keyOf(command) ? command.arguments.filter(({ hasPresent }) => hasPresent) : [];
  const removable = new Set(kept.map(({ name }) => `no-${name}`));
  return command.arguments.filter(
    ({ name, carried }) => fixed[name] === undefined && !carried && name !== command.preview && !removable.has(name),
  );
}

function setValue(input, value) {
  if (input.show) input.show(value);
  else if (input.type === 'checkbox') input.checked = Boolean(value);
  else input.value = value;
  input.dispatchEvent(new Event('change', { bubbles: true }));
}

/** The argument that names the object of the command, if there is one object. */
export function keyOf(command) {
  const named = command.arguments.filter(({ kind, from }) => kind === 'positional' && from);
  return named.length === 1 ? named[0] : undefined;
}

export class Fields {
  constructor(command, { fixed, preset, wanted, asset }) {
    this.asset = asset;
    this.command = command;
    this.fixed = fixed;
    this.initial = {};
    const scope = inScope(command.command);
    const all = shownArguments(command, fixed).filter(wanted);
    this.entries = all.map((argument) => ({
      argument,
      node: field(argument, preset[argument.name] ?? scope[argument.name] ?? proposed(argument), {
        hint: spoken(argument.help, command.command),
      }),
    }));
    for (const { argument, node } of this.entries) node.classList.toggle('broad', Boolean(isBroad(argument)));
    const titles = [...new Set(all.map(({ step }) => step))].filter(Boolean);
    this.titles = titles.length > 1 ? titles : [''];
    this.steps = this.titles.map((title, index) => this.step(title, index));
    this.broad = all.length > SHORT;
    this.at = 0;
    this.node = h('div', { class: 'stack' }, this.steps);
    this.node.addEventListener('change', (event) => this.changed(event));
    this.node.addEventListener('input', () => this.follow());
  }

  step(title, index) {
    const own = this.entries.filter(
      ({ argument }) => this.titles.length === 1 || argument.step === title || (!argument.step && index === 0),
    );
    const folds = own.length > SHORT && !this.command.partial;
    // Without enough required fields, the others are what the form is for; only toggles are rare.
    const few = own.filter(({ argument }) => isOpen(argument)).length < 2;
    const isShown = (argument) => !folds || isOpen(argument) || (few && argument.kind !== 'toggle');
    const [open, rare] = [true, false].map((is) => own.filter(({ argument }) => isShown(argument) === is));
    // Required fields first, in the order of the table; a condition keeps its field behind its choice.
    const isFirst = ({ argument }) => Boolean(argument.required || argument.fallback);
    const sorted = [...open].sort((a, b) => isFirst(b) - isFirst(a));
    return h(
      'div',
      { class: 'step stack', 'data-step': index },
      this.titles.length > 1 && h('p', { class: 'soft step-title' }, S.form.step(index + 1, this.titles.length, title)),
      h('div', { class: 'fields' }, sorted.map(({ node }) => node)),
      rare.length > 0 &&
        h(
          'details',
          { class: 'more' },
          h('summary', {}, S.form.more),
          h('div', { class: 'fields' }, rare.map(({ node }) => node)),
        ),
    );
  }

  inputs(node) {
    return [...node.querySelectorAll('input, select, textarea')];
  }

  input(name) {
    return this.inputs(this.node).find((each) => each.name === name);
  }

  values() {
    const out = { ...this.fixed };
    for (const each of this.inputs(this.node)) {
      if (each.name && !each.disabled) out[each.name] = each.type === 'checkbox' ? each.checked : each.value;
    }
    return out;
  }

  /** Shows the fields whose condition holds. */
  follow() {
    for (let pass = 0; pass < 2; pass += 1) {
      const values = this.values();
      for (const { argument, node } of this.entries) {
        node.hidden = Boolean(argument.when) && !holds(argument.when, values);
        for (const each of this.inputs(node)) {
          each.disabled = node.hidden;
          if (each.look) each.look(this.assetOf(argument, values));
        }
      }
    }
    for (const more of this.node.querySelectorAll('.more')) more.hidden = !more.querySelector('.field:not([hidden])');
  }

  /** The asset of an amount: chosen beside it, of the object, or of the connector. A rate has none. */
  assetOf({ name, placeholder }, values) {
    if ((placeholder || name) === 'RATE') return '';
    return (name === 'min-receive' ? values['receive-asset'] : values.asset || values.CODE || this.asset) || '';
  }

  async changed({ target }) {
    if (target.name === 'connector' && target.value) this.asset = (await recordOf('connector list', target.value))?.assetCode;
    this.follow();
    const argument = this.command.arguments.find(({ name }) => name === target.name);
    if (argument && (argument.identifies || argument === keyOf(this.command))) this.fillIn();
    if (argument) this.narrow(argument);
  }

  /** Fills in the present values of the object, except where the operator has typed. */
  async fillIn() {
    const kept = this.entries.filter(({ argument }) => argument.hasPresent);
    const key = keyOf(this.command);
    if (kept.length === 0 || !(key || this.command.present)) return;
    const values = this.values();
    const record = (await presentOf(this.command, key, values)) || {};
    const chosen = this.values();
    if (this.command.arguments.some(({ name, hasPresent }) => !hasPresent && values[name] !== chosen[name])) return;
    for (const { argument } of kept) {
      const present = String(record[argument.member] ?? '');
      const input = this.input(argument.name);
      const before = this.initial[argument.name] ?? '';
      if (!input || present === before) continue;
      const typed = input.value !== '' && ((input.look && amountIn(input)) ?? input.value) !== (before || argument.fallback || '');
      this.initial[argument.name] = present;
      if (!typed) setValue(input, present || argument.fallback || '');
    }
    this.follow();
  }

  /** Offers only what belongs to the object that another argument names. */
  async narrow({ name, from }) {
    const own = this.entries.filter(({ argument }) => argument.like === name);
    const value = this.values()[name];
    if (own.length === 0) return;
    const object = value ? await recordOf(from, value) : undefined;
    if (this.values()[name] !== value) return;
    for (const { argument } of own) {
      const input = this.input(argument.name);
      if (input.narrow) input.narrow(object);
    }
  }

  /** What to send: for a command that changes only given values, those that differ; an emptied one is removed. */
  sent(values) {
    const out = { ...values };
    for (const [name, before] of Object.entries(this.initial)) {
      const input = this.input(name);
      const takesRemoval = this.command.arguments.some((each) => each.name === `no-${name}`);
      if (this.command.partial && values[name] === before) delete out[name];
      if (takesRemoval && before !== '' && input && input.value.trim() === '') out[`no-${name}`] = true;
    }
    return out;
  }

  get last() {
    return this.at === this.steps.length - 1;
  }

  show(index) {
    this.at = index;
    this.steps.forEach((each, i) => (each.hidden = i !== index));
    const first = this.inputs(this.steps[index]).find((each) => each.type !== 'hidden' && !each.disabled);
    if (first) first.focus();
    if (this.titles.length > 1) announce(S.form.step(index + 1, this.titles.length, this.titles[index]));
  }

  /** Whether the fields of this step are filled in; the browser reports the first that is not. */
  complete() {
    return this.inputs(this.steps[this.at]).every((each) => {
      const more = each.closest('details');
      if (!each.disabled && !each.checkValidity() && more) more.open = true;
      return each.disabled || each.reportValidity();
    });
  }

  /** Opens the step and the fold with a field that has an error. */
  reveal(input) {
    const index = this.steps.findIndex((each) => each.contains(input));
    if (index >= 0 && index !== this.at) this.show(index);
    const more = input.closest('details');
    if (more) more.open = true;
  }
}

/** The names of the objects that fixed values name. */
export function nameNode(argument, value) {
  const place = h('span', {}, String(value).slice(0, 8));
  if (argument.from) nameOf(argument.from, String(value)).then((text) => (place.textContent = text));
  else place.textContent = String(value);
  return place;
}
