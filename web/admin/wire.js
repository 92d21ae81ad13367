// Calls to the server: the session, the available commands, and their execution.

/** The error of a call. The server's log contains `requestId`. */
export class Rejected extends Error {
  constructor(problem) {
    super(problem.detail || problem.title || 'The server did not respond.');
    this.title = problem.title || 'No response';
    this.status = problem.status || 0;
    this.code = problem.code || '';
    this.requestId = problem.requestId || '';
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
  try {
    return { requestId, status: response.status, ...(await response.json()) };
  } catch {
    return { requestId, status: response.status, title: `Status ${response.status}` };
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
    throw new Rejected({ title: 'No response', detail: 'Cannot reach the server. Check that it is running, then try again.' });
  }
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
  return signedCall(pathOf(command) + (query ? `?${query}` : ''), { signal });
}

/** Runs any command. A toggle in `values` is true. */
export function act(command, values = {}) {
  return signedCall(pathOf(command), { method: 'POST', body: Object.fromEntries(given(values)) });
}

export const signIn = (form) => call('sign-in', { method: 'POST', body: form });
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
