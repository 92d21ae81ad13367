// The operator's own password and authenticator.
import { dialog } from './action.js';
import { announce, h, replace } from './dom.js';
import { plainField, submitting } from './form.js';
import { heading } from './list.js';
import { errorBox } from './notice.js';
import { terms } from './record.js';
import { authenticatorForm, sameTwice } from './signin.js';
import { changePassword, loadSession, session } from './wire.js';

function passwordForm() {
  const place = h('div', { 'aria-live': 'polite' });
  const form = h(
    'form',
    { class: 'stack narrow' },
    h('input', {
      type: 'text',
      name: 'username',
      autocomplete: 'username',
      value: session.operator.name,
      hidden: true,
      'aria-hidden': 'true',
      tabindex: -1,
    }),
    plainField({
      name: 'present',
      text: 'Current password',
      type: 'password',
      autocomplete: 'current-password',
      required: true,
    }),
    plainField({
      name: 'next',
      text: 'New password',
      type: 'password',
      autocomplete: 'new-password',
      required: true,
      minlength: 12,
      hint: 'At least 12 characters. Other browsers of yours are signed out.',
    }),
    plainField({
      name: 'again',
      text: 'The same again',
      type: 'password',
      autocomplete: 'new-password',
      required: true,
    }),
    place,
    h('div', { class: 'row' }, h('button', { type: 'submit', class: 'primary' }, 'Change password')),
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const { present, next, again } = form.elements;
    const went = await submitting(form, place, async () => {
      sameTwice(next.value, again.value);
      await changePassword({ present: present.value, next: next.value });
      await loadSession();
    });
    if (!went) return;
    form.reset();
    replace(place, h('p', { class: 'notice good', role: 'status' }, 'Your password is changed.'));
  });
  return form;
}

async function enrolAnew() {
  const content = h('div', {}, h('p', { class: 'soft' }, 'Loading…'));
  const open = dialog('Enrol an authenticator', content);
  const cancel = h('button', { type: 'button', class: 'quiet', onclick: open.close }, 'Cancel');
  try {
    const form = await authenticatorForm(async () => {
      open.close();
      announce('Your authenticator is enrolled');
      if (!(await loadSession())) await session.onExpired();
      location.reload();
    });
    replace(content, form, cancel);
    form.elements.code.focus();
  } catch (fault) {
    replace(content, errorBox(fault), cancel);
  }
}

export function accountScreen(context) {
  const { name, role, authenticator, idleSeconds } = session.operator;
  replace(
    context.main,
    heading('My account'),
    h(
      'section',
      { class: 'panel' },
      h('h2', {}, 'Who you are'),
      terms([
        ['Name', name],
        ['Role', role],
        ['Signed out after', `${Math.round(idleSeconds / 60)} min without input`],
      ]),
    ),
    h(
      'section',
      { class: 'panel' },
      h('h2', {}, 'Authenticator'),
      h(
        'p',
        {},
        authenticator
          ? 'Enrolled. A new one takes the place of the old one when its first code fits.'
          : 'Not enrolled: your password alone opens this page.',
      ),
      h(
        'button',
        { type: 'button', onclick: enrolAnew },
        authenticator ? 'Enrol a new one' : 'Enrol one now',
      ),
    ),
    h('section', { class: 'panel' }, h('h2', {}, 'Password'), passwordForm()),
  );
}
