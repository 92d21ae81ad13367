// The environment and association chosen for all screens. The browser tab keeps them, and a banner shows them.
import { h, replace } from './dom.js';
import { S } from './strings.js';
import { can, read, takes } from './wire.js';

const KEY = 'coffer-scope';
const scope = { environment: '', association: '', name: '' };

function load() {
  try {
    Object.assign(scope, JSON.parse(sessionStorage.getItem(KEY)) || {});
  } catch {
    // Storage is disabled: the choice lasts until the page is closed.
  }
}
load();

function keep() {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(scope));
  } catch {
    // Storage is disabled: see above.
  }
}

/** The arguments of a command that the scope determines. */
export function inScope(command) {
  const out = {};
  if (scope.environment && takes(command, 'environment')) out.environment = scope.environment;
  if (scope.association && takes(command, 'association')) out.association = scope.association;
  return out;
}

function drawBanner(banner, changed) {
  const text = [
    S.scope.banner[scope.environment],
    scope.association && S.scope.bannerOf(scope.name),
  ].filter(Boolean);
  document.body.dataset.environment = scope.environment || 'all';
  banner.hidden = text.length === 0;
  replace(
    banner,
    h('strong', {}, text.join(' ')),
    h('button', { type: 'button', class: 'quiet', onclick: () => changed({}) }, S.scope.bannerClear),
  );
}

function option(value, text, present) {
  return h('option', { value, selected: value === present }, text);
}

/** {controls, banner}; a change of the scope calls `again`, which redraws the screen. */
export function scopeControls(again) {
  const banner = h('div', { id: 'scope-banner', role: 'status', hidden: true });
  const environment = h('select', { 'aria-label': S.scope.environment });
  const association = h('select', { 'aria-label': S.scope.association });
  const draw = () => {
    replace(
      environment,
      option('', S.scope.allEnvironments, scope.environment),
      Object.entries(S.scope.environments).map(([value, text]) => option(value, text, scope.environment)),
    );
    drawBanner(banner, change);
  };
  const drawAssociations = (rows) =>
    replace(
      association,
      option('', S.scope.allAssociations, scope.association),
      rows.map((row) => option(row.id, row.name, scope.association)),
    );
  const change = ({ environment: env = '', association: of = '', name = '' }) => {
    Object.assign(scope, { environment: env, association: of, name });
    keep();
    draw();
    association.value = of;
    again();
  };
  environment.addEventListener('change', () => change({ ...scope, environment: environment.value }));
  association.addEventListener('change', () =>
    change({
      ...scope,
      association: association.value,
      name: association.value ? association.selectedOptions[0].textContent : '',
    }),
  );
  draw();
  drawAssociations(scope.association ? [{ id: scope.association, name: scope.name }] : []);
  if (can('association list')) read('association list').then(({ data }) => drawAssociations(data), () => {});
  return {
    controls: h('div', { class: 'scope', role: 'group', 'aria-label': S.scope.label }, environment, association),
    banner,
  };
}
