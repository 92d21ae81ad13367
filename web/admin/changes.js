// What is new: the changelog of the running version, and a notice after an upgrade.
import { h } from './dom.js';
import { list } from './list.js';
import { S } from './strings.js';
import { can } from './wire.js';

const C = S.changes;
const COMMAND = 'changes';
const SEEN = 'coffer-version';

export function changesScreen(context) {
  list(context, {
    title: C.title,
    intro: C.intro,
    command: COMMAND,
    columns: [
      { key: 'change', card: 'title', wide: true },
      { key: 'kind', card: 'badge' },
      { key: 'release', card: 'sub' },
    ],
    key: (row) => row.change,
    tools: false,
    empty: [C.empty],
  });
}

/** A link to the changes, for operators who may read them. */
export const changesLink = () => can(COMMAND) && h('p', {}, h('a', { href: '#/changes' }, C.title));

/** A notice while this browser has only seen another version. It ends when the operator closes it. */
export function upgradeNotice(version) {
  let before;
  try {
    before = localStorage.getItem(SEEN);
    if (!before) localStorage.setItem(SEEN, version);
  } catch {
    return null; // storage is disabled: no version is known to be new
  }
  if (!before || before === version || !can(COMMAND)) return null;
  const close = (event) => {
    localStorage.setItem(SEEN, version);
    event.target.closest('.notice').remove();
  };
  return h(
    'div',
    { class: 'notice row between', 'data-upgrade': version },
    h('span', {}, C.upgraded(before, version), ' ', h('a', { href: '#/changes' }, C.title)),
    h('button', { type: 'button', class: 'quiet', onclick: close }, S.common.close),
  );
}
