// Signing in with the identity provider: there, back, and the call that ends it.
import { Refused, call } from './wire.js';

const posted = (body = {}) => ({ method: 'POST', body });

/** The host of the provider, or null. */
export async function offeredProvider() {
  return (await call('sign-in/options')).provider;
}

/** Leaves the page. */
export async function goToProvider() {
  const { url } = await call('sign-in/provider/begin', posted());
  location.assign(url);
  await new Promise(() => {});
}

/** What the provider sent the browser back with; it does not stay in the address. Null: nothing. */
export function returnedFromProvider() {
  const query = new URLSearchParams(location.search);
  if (!query.has('state') || !(query.has('code') || query.has('error'))) return null;
  history.replaceState(null, '', location.pathname + location.hash);
  return Object.fromEntries(query);
}

export async function signInWithProvider({ code, state, iss, error }) {
  if (error) {
    throw new Refused({ title: 'Not signed in', detail: `The provider did not sign you in (${error}).` });
  }
  await call('sign-in/provider', posted({ code, state, iss: iss || '' }));
}
