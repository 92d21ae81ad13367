// Calls operations from the reference. Only the reference of a demo loads this script. Credentials and
// tokens stay in variables of this page: nothing is stored, and no cookie is sent.
'use strict';

const cofferTry = (() => {
  const SHOWN_MAX = 100_000; // characters of a response
  const EARLY_MS = 30_000; // how long before its expiry a token is renewed

  const FIELDS = [
    ['clientId', 'Client ID'], ['clientSecret', 'Client secret', 'password'], ['apiKey', 'API key', 'password'],
    ['publicKey', 'Public key'], ['signInSecret', 'Sign-in secret', 'password'],
    ['connectSecret', 'Connect secret', 'password'],
  ];
  // For each secret that x-svc-auth can carry: the login that returns the bearer token, its body (member -> field).
  const LOGINS = {
    apiKey: { login: 'createToken', body: { clientId: 'clientId', clientSecret: 'clientSecret' }, token: 'accessToken' },
    connectSecret: { login: 'signIn', body: { publicKey: 'publicKey', secret: 'signInSecret' }, token: 'idToken' },
  };
  // Response headers that are shown.
  const HEADERS = ['content-type', 'x-request-id', 'retry-after', 'x-success-convention', 'content-disposition', 'location'];

  const inputs = new Map();
  const known = new Map(); // name of a member or parameter -> value, from the credentials and from responses
  let tokens = {};

  const value = (name) => inputs.get(name)?.value.trim() || '';

  function operation(id) {
    for (const [path, item] of Object.entries(openapi.paths)) {
      for (const [method, each] of Object.entries(item)) {
        if (each.operationId === id) return { path, method };
      }
    }
    throw new Error(`the document has no operation ${id}`);
  }

  // --- Calls --------------------------------------------------------------------------------------

  function send(method, target, headers, body) {
    return fetch(target, {
      method, headers, body, credentials: 'omit', cache: 'no-store', redirect: 'error', referrerPolicy: 'no-referrer',
    });
  }

  async function bearer(scheme) {
    const { login, body, token } = LOGINS[scheme];
    const needed = [scheme, ...Object.values(body)];
    const missing = FIELDS.filter(([name]) => needed.includes(name) && !value(name));
    if (missing.length > 0) throw new Error(`Enter credentials first: ${missing.map(([, label]) => label).join(', ')}.`);
    const present = tokens[scheme];
    if (present && present.until > Date.now()) return present.text;
    const { path, method } = operation(login);
    const response = await send(method.toUpperCase(), path, { 'Content-Type': 'application/json' },
      JSON.stringify(Object.fromEntries(Object.entries(body).map(([member, name]) => [member, value(name)]))));
    const granted = await response.json();
    if (!response.ok) throw new Error(`${path} responded ${response.status}: ${granted.detail || granted.title}`);
    tokens[scheme] = { text: granted[token], until: Date.now() + granted.expiresIn * 1000 - EARLY_MS };
    return granted[token];
  }

  async function credentialsFor(each) {
    const scheme = Object.keys(LOGINS).find((name) => name in (each.security?.[0] || {}));
    if (!scheme) return {};
    return { Authorization: `Bearer ${await bearer(scheme)}`, 'x-svc-auth': value(scheme) };
  }

  // --- Known values -------------------------------------------------------------------------------

  /** Learns IDs from the line that `coffer demo --json` prints, or from the demo's file of secrets. */
  function learnFacts(facts) {
    const [first, second] = facts.wallets || [];
    const payee = (facts.beneficiaries || [])[0];
    const values = {
      walletId: first?.id, sourceWalletId: first?.id, destinationWalletId: second?.id, settlementAccount: second?.publicKey,
      beneficiaryId: payee?.id, destinationId: payee?.destinations[0].id, destId: payee?.destinations[0].id,
      connectorId: (facts.connectors || [])[0]?.id, associationId: facts.associationId, applicationId: facts.applicationId,
      assetCode: first?.assetCode, sendingAssetCode: first?.assetCode,
    };
    for (const [name, each] of Object.entries(values)) if (each) known.set(name, each);
    api.learned();
  }

  /** Learns IDs from a response, for the next request. */
  function learnResponse(path, body) {
    if (body === null || typeof body !== 'object') return;
    for (const [name, each] of Object.entries(body)) {
      if (/(Id|reference)$/.test(name) && typeof each === 'string' && name !== 'requestId') known.set(name, each);
    }
    const noun = /^\/v1\/(wallet|webhook|connector)s$/.exec(path)?.[1] || (path === '/v1/beneficiaries' ? 'beneficiary' : '');
    if (noun && typeof body.id === 'string') known.set(`${noun}Id`, body.id);
    api.learned();
  }

  /** A recorded example with known IDs. */
  const withKnown = (example) =>
    JSON.parse(JSON.stringify(example), (name, each) =>
      typeof each === 'string' && name !== 'transactionId' && known.has(name) ? known.get(name) : each);

  /** A known value for a path parameter. `{transactionId}` in a path is the record ID. */
  function parameterValue(path, name) {
    if (name === 'transactionId') return known.get('transactionRecordId');
    if (name === 'id') return known.get(path.startsWith('/v1/application/') ? 'applicationId' : 'associationId');
    return known.get(name);
  }

  /** The recorded example with known values filled in; for a login, also the credentials. */
  function bodyFor(example, isLogin) {
    const secrets = isLogin ? Object.assign({}, ...Object.values(LOGINS).map(({ body }) => body)) : {};
    return JSON.parse(JSON.stringify(example), (name, each) => {
      if (name === 'transactionId' && typeof each === 'string') return `try-${crypto.getRandomValues(new Uint32Array(2)).join('-')}`;
      if (name in secrets) return value(secrets[name]) || each;
      return typeof each === 'string' && known.has(name) ? known.get(name) : each;
    });
  }

  // --- The page -----------------------------------------------------------------------------------

  function field(name, label, { type = 'text', note = '', text = '' } = {}) {
    const input = h('input', { type, name, value: text, autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' });
    return { input, row: h('label', { class: 'field' }, h('span', {}, label, note ? h('small', {}, ` ${note}`) : ''), input) };
  }

  function paste(event, status) {
    const text = (event.clipboardData?.getData('text') || '').trim();
    if (!text.startsWith('{')) return;
    event.preventDefault();
    try {
      const facts = JSON.parse(text);
      for (const [name, input] of inputs) if (typeof facts[name] === 'string') input.value = facts[name];
      tokens = {};
      learnFacts(facts);
      status.textContent = 'Credentials read. They stay in this page until it is closed or reloaded.';
    } catch {
      status.textContent = 'The pasted text is not JSON.';
    }
  }

  /** The form for credentials, above the operations. */
  function credentials() {
    const status = h('p', { role: 'status' });
    const rows = FIELDS.map(([name, label, type]) => {
      const { input, row } = field(name, label, { type });
      input.addEventListener('input', () => { tokens = {}; });
      input.addEventListener('paste', (event) => paste(event, status));
      inputs.set(name, input);
      return row;
    });
    const forget = () => {
      for (const input of inputs.values()) input.value = '';
      tokens = {};
      known.clear();
      api.learned();
      status.textContent = 'Credentials removed.';
    };
    return h('section', { id: 'try', class: 'try', 'aria-labelledby': 'try-heading' },
      h('h2', { id: 'try-heading' }, 'Try it'),
      h('p', {}, 'Calls go to this server, which is a demo. Paste the line that ', h('code', {}, 'coffer demo --json'),
        ' prints, or the content of the file next to the database (', h('code', {}, '.demo.json'),
        '), into any field; or enter the values. The last three are for the operations under ',
        h('code', {}, '/v1/connect-…'), '.'),
      h('div', { class: 'grid' }, rows), h('button', { type: 'button', onclick: forget }, 'Remove credentials'), status);
  }

  function pretty(text, type) {
    try {
      if (/json$/.test(type.split(';')[0])) return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      // Not valid JSON: show the text unchanged.
    }
    return text;
  }

  async function show(place, request, path, began) {
    const response = await request;
    const text = await response.text();
    const took = Math.round(performance.now() - began);
    const type = response.headers.get('content-type') || '';
    const whole = pretty(text, type);
    const slug = /"type":\s*"urn:coffer:problem:([a-z0-9-]+)"/.exec(text)?.[1];
    if (response.ok && type.startsWith('application/json')) learnResponse(path, JSON.parse(text));
    const headers = HEADERS.filter((name) => response.headers.has(name)).map((name) => `${name}: ${response.headers.get(name)}`);
    place.replaceChildren(
      h('p', {}, h('strong', { class: response.ok ? 'good' : 'bad' }, `${response.status} ${response.statusText}`.trim()),
        ` in ${took} ms`, slug ? [' · ', h('a', { href: `/problems/${slug}` }, slug)] : ''),
      h('pre', { tabindex: '0', 'aria-label': 'Response headers' }, h('code', {}, headers.join('\n'))),
      text ? h('pre', { tabindex: '0', 'aria-label': 'Response body' }, h('code', {}, whole.slice(0, SHOWN_MAX))) : '',
      whole.length > SHOWN_MAX ? h('p', { class: 'soft' }, `The first ${SHOWN_MAX} of ${whole.length} characters.`) : '');
  }

  /** The path and query of the request, from the fields. */
  function target(path, fields) {
    const missing = fields.filter(({ parameter, input }) => parameter.required && !input.value.trim());
    if (missing.length > 0) throw new Error(`Enter ${missing.map(({ parameter }) => parameter.name).join(', ')}.`);
    const query = new URLSearchParams();
    let out = path;
    for (const { parameter, input } of fields) {
      const text = input.value.trim();
      if (parameter.in === 'path') out = out.replace(`{${parameter.name}}`, encodeURIComponent(text));
      else if (parameter.style === 'deepObject' && text.includes('=')) {
        const [key, ...rest] = text.split('=');
        query.set(`${parameter.name}[${key}]`, rest.join('='));
      } else if (text) query.set(parameter.name, text);
    }
    return query.size > 0 ? `${out}?${query}` : out;
  }

  function form(method, path, operation) {
    const fields = (operation.parameters || []).map((parameter) => ({
      parameter,
      ...field(parameter.name, parameter.name, {
        note: parameter.required ? '' : 'optional',
        text: parameter.required ? parameterValue(path, parameter.name) || '' : '',
      }),
    }));
    const example = operation.requestBody?.content['application/json']?.example;
    const body = example === undefined ? null
      : h('textarea', { rows: '10', spellcheck: 'false', autocomplete: 'off' });
    if (body) body.value = JSON.stringify(bodyFor(example, Object.keys(operation.security[0]).length === 0), null, 2);
    const place = h('div', { role: 'status' });
    const call = async ({ currentTarget: button }) => {
      if (button.getAttribute('aria-busy') === 'true') return;
      button.setAttribute('aria-busy', 'true');
      try {
        const address = target(path, fields);
        const headers = await credentialsFor(operation);
        if (body) headers['Content-Type'] = 'application/json';
        const began = performance.now();
        await show(place, send(method.toUpperCase(), address, headers, body ? body.value : undefined), path, began);
      } catch (error) {
        place.replaceChildren(h('p', { class: 'bad' }, error.message));
      }
      button.setAttribute('aria-busy', 'false');
    };
    return [
      h('div', { class: 'grid' }, fields.map(({ row }) => row)),
      body ? h('label', { class: 'field' }, h('span', {}, 'Request body'), body) : '',
      h('button', { type: 'button', class: 'send', onclick: call }, `Send ${method.toUpperCase()}`),
      place,
    ];
  }

  /** The form of an operation, redrawn each time it is opened, because more values may be known by then. */
  function panel({ method, path, operation }) {
    const place = h('div');
    const open = ({ target: details }) => {
      if (details.open) place.replaceChildren(...form(method, path, operation));
    };
    return h('details', { class: 'schema try', ontoggle: open },
      h('summary', { 'aria-label': `Try it: ${operation.operationId}` }, 'Try it'), place);
  }

  /** `learned` is called when more IDs are known. */
  const api = { credentials, panel, parameterValue, withKnown, learned: () => {} };
  return api;
})();
