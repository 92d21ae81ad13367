// Calls to the server: the session, the available commands, and their execution.
import { label, synchronise } from './format.js';
import { S } from './strings.js';

/** The error of a call. The server's log contains `requestId`. */
export class Rejected extends Error {
  constructor(problem) {
    super(problem.detail || problem.title || S.wire.silent);
    this.title = problem.title || S.wire.noResponse;
    this.status = problem.status || 0;
    this.code = problem.code || '';
    this.requestId = problem.requestId || '';
    this.retryAfter = problem.retryAfter || 0; // seconds
    this.fields = problem.errors || [];
  }
}

/** The session of this browser; `operator` is null while no operator is signed in. */
export const session = {
  operator: null,
  commands: new Map(),
  /** Set by the page: asks for the password and resolves when an operator has signed in again. */
  onExpired: async () => {},
};

export const can = (command) => session.commands.has(command);

/** Whether a command takes an argument of this name. */
export function takes(command, name) {
  const row = session.commands.get(command);
  return row !== undefined && row.arguments.some((argument) => argument.name === name);
}

async function problemOf(response) {
  const requestId = response.headers.get('X-Request-Id') || '';
  const retryAfter = Number(response.headers.get('Retry-After')) || 0;
  try {
    return { requestId, retryAfter, status: response.status, ...(await response.json()) };
  } catch {
    return { requestId, retryAfter, status: response.status, title: S.wire.status(response.status) };
  }
}

export async function call(path, { method = 'GET', body, signal } = {}) {
  const headers = {};
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (method === 'POST' && session.operator) headers['X-CSRF-Token'] = session.operator.csrfToken;
  let response;
  try {
    response = await fetch(`api/${path}`, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: 'no-store',
      credentials: 'same-origin',
      redirect: 'error',
      signal,
    });
  } catch (fault) {
    if (fault.name === 'AbortError') throw fault;
    throw new Rejected({ title: S.wire.noResponse, detail: S.wire.unreachable });
  }
  const time = response.headers.get('Coffer-Time');
  if (time) synchronise(time);
  if (!response.ok) throw new Rejected(await problemOf(response));
  return response.status === 204 ? null : response.json();
}

/** Loads the session and its commands. Returns false if no operator is signed in. */
export async function loadSession() {
  try {
    session.operator = await call('session');
  } catch (rejected) {
    if (rejected.status !== 401) throw rejected;
    session.operator = null;
    return false;
  }
  session.commands = new Map();
  if (!session.operator.mustEnrol) {
    const { data } = await call('commands');
    session.commands = new Map(data.map((row) => [row.command, row]));
  }
  return true;
}

/** Reloads the session. Returns false if no operator is signed in. */
async function isSignedIn() {
  try {
    // A sign-in in another tab replaces the session and its token.
    Object.assign(session.operator, await call('session'));
    return true;
  } catch (rejected) {
    if (rejected.status !== 401) throw rejected;
    return false;
  }
}

/**
 * A call within a session. If the session is over, the page asks for the password and then repeats the call. If another
 * session has replaced it, the call is repeated with the new token.
 */
export async function signedCall(path, options) {
  const token = session.operator.csrfToken;
  try {
    return await call(path, options);
  } catch (rejected) {
    if (rejected.status !== 401 && rejected.status !== 403) throw rejected;
    if (!(await isSignedIn())) await session.onExpired();
    // Otherwise the call itself was rejected, for example because of a wrong password or the role.
    else if (session.operator.csrfToken === token) throw rejected;
    return call(path, options);
  }
}

/**
 * A text of the command line for the page: flags and commands by the names that they have here. `command` is the one
 * that the text is about.
 */
export function spoken(text, command = '') {
  const row = session.commands.get(command);
  const flag = (all, name) => {
    const argument = row && row.arguments.find((each) => each.name === name);
    return argument ? `“${argument.label || label(name)}”` : all;
  };
  const forShell = /command line/.test(text);
  const verb = (all, ...words) => {
    if (forShell) return all;
    const found = session.commands.get(words.filter(Boolean).join(' '));
    return found && found.label ? `“${found.label}”` : all;
  };
  const member = (all, name) => {
    const argument = row && row.arguments.find((each) => each.member === name);
    return argument ? `“${argument.label}”` : all;
  };
  return String(text || '')
    .replace(/`([a-z]\w*)`/g, member)
    .replace(/\b([a-z]+[A-Z]\w*)\b/g, member)
    .replace(/`?--([a-z][a-z-]*[a-z])(?: [A-Z]+)?`?/g, flag)
    .replace(/`?coffer ([a-z]+)(?: ([a-z-]+))?`?/g, verb);
}

/** The error of a command, in the words of the page; `fields` are the arguments that it names. */
function inPageWords(fault, command) {
  if (!(fault instanceof Rejected)) return fault;
  fault.fields = fault.fields.map((each) => ({ ...each, message: spoken(each.message, command) }));
  fault.message = spoken(fault.message, command);
  return fault;
}

async function run(command, path, options) {
  try {
    const result = await signedCall(path, options);
    if (result && result.note) result.note = spoken(result.note, command);
    return result;
  } catch (fault) {
    throw inPageWords(fault, command);
  }
}

function pathOf(command) {
  return `run/${command.split(' ').map(encodeURIComponent).join('/')}`;
}

function given(values) {
  return Object.entries(values).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  );
}

/** Runs a command that only reads. Returns {data, columns?, note?, nextCursor?}. */
export function read(command, values = {}, signal = undefined) {
  const query = new URLSearchParams(given(values)).toString();
  return run(command, pathOf(command) + (query ? `?${query}` : ''), { signal });
}

const WAIT_MS = 600_000; // a command can verify a large file

/** Whether the command may have run. A 503 with a code is a refusal. */
const isLost = (fault) =>
  !(fault instanceof Rejected) || fault.status === 0 || (fault.status >= 500 && !(fault.status === 503 && fault.code));

/** Runs any command. A toggle in `values` is true. The fault of a lost response `isUnknown`, and says what to do. */
export async function act(command, values = {}) {
  try {
    const signal = AbortSignal.timeout(WAIT_MS);
    return await run(command, pathOf(command), { method: 'POST', body: Object.fromEntries(given(values)), signal });
  } catch (fault) {
    if (values[session.commands.get(command).preview] || !isLost(fault)) throw fault;
    const detail = values['transaction-id'] ? S.wire.sameAgain : S.wire.lookFirst;
    throw Object.assign(new Rejected({ title: S.wire.unknown, detail, requestId: fault.requestId }), { isUnknown: true });
  }
}

export const signIn = (form) => call('sign-in', { method: 'POST', body: form });
/** For whom a one-time link is: {name}, or null if its holder chooses a name. */
export const openLink = (link) => call('link', { method: 'POST', body: { link } });
export const claim = (form) => call('claim', { method: 'POST', body: form });
export const signOut = () => call('sign-out', { method: 'POST', body: {} });
export const beginAuthenticator = (proof) => signedCall('authenticator', { method: 'POST', body: proof });
export const confirmAuthenticator = (code) =>
  call('authenticator/confirm', { method: 'POST', body: { code } });
export const renewRecoveryCodes = (proof) =>
  signedCall('recovery-codes', { method: 'POST', body: proof });
export const ownSessions = () => signedCall('sessions');
export const endSession = (id) => signedCall('sessions/end', { method: 'POST', body: { id } });
export const changePassword = (form) => signedCall('password', { method: 'POST', body: form });
