// Shows names of associations, applications and connectors in place of their IDs. Each list is read once and kept for
// half a minute.
import { h } from './dom.js';
import { id, label } from './format.js';
import { can, read } from './wire.js';

const LISTS = {
  association: { command: 'association list', place: 'associations' },
  application: { command: 'application list', place: 'applications' },
  connector: { command: 'connector list', place: 'connectors' },
};

const AGE_MS = 30_000;
const kept = new Map();

function rowsOf(kind) {
  const { command } = LISTS[kind];
  const present = kept.get(kind);
  if (present && Date.now() - present.at < AGE_MS) return present.rows;
  const rows = can(command)
    ? read(command).then(
        ({ data }) => new Map(data.map((row) => [row.id, row.name])),
        () => new Map(),
      )
    : Promise.resolve(new Map());
  kept.set(kind, { at: Date.now(), rows });
  return rows;
}

/** A link with the name of the object; the ID until the name is known. */
export function named(kind, value) {
  const link = id(value, `#/${LISTS[kind].place}/${value}`);
  rowsOf(kind).then((names) => {
    if (!names.has(value)) return;
    link.textContent = names.get(value);
    link.classList.remove('id');
  });
  return link;
}

/** A column that shows names in place of IDs. */
export function namedColumn(kind, key = `${kind}Id`, text = label(kind)) {
  return { key, label: text, render: (row) => (row[key] ? named(kind, row[key]) : '–') };
}
