// Sign-in with the identity provider: the redirect there, the return, and the call that completes the sign-in.
import { S } from './strings.js';
import { Rejected, call } from './wire.js';

const posted = (body = {}) => ({ method: 'POST', body });

/** The host of the configured provider, or null. */
export async function offeredProvider() {
  return (await call('sign-in/options')).provider;
}

/** Leaves the page. */
export async function goToProvider() {
  const { url } = await call('sign-in/provider/begin', posted());
  location.assign(url);
  await new Promise(() => {});
}

/** The parameters with which the provider sent the browser back, or null. Removes them from the address. */
export function returnedFromProvider() {
  const query = new URLSearchParams(location.search);
  if (!query.has('state') || !(query.has('code') || query.has('error'))) return null;
  history.replaceState(null, '', location.pathname + location.hash);
  return Object.fromEntries(query);
}

export async function signInWithProvider({ code, state, iss, error }) {
  if (error) {
    throw new Rejected({ title: S.signIn.notByProvider, detail: S.signIn.byProvider(error) });
  }
  await call('sign-in/provider', posted({ code, state, iss: iss || '' }));
}
