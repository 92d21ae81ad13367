// Part of oidc.py: a stock OpenID provider (oidc-provider). It needs no password: each visitor is the account of
// the last line on standard input, and authenticates now or at the time after the account. Prints its issuer as the first line.
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

import { Provider } from 'oidc-provider';

const { port, redirectUri, clientId, clientSecret } = JSON.parse(process.env.COFFER_TEST);
const issuer = `http://127.0.0.1:${port}`;
let account = 'unset';

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uris: [redirectUri],
      response_types: ['code'],
      grant_types: ['authorization_code'],
    },
  ],
  pkce: { required: () => true },
  claims: { openid: ['sub'], email: ['email', 'email_verified'] },
  conformIdTokenClaims: false,
  cookies: { keys: ['test'] },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, email: `${id}@example.com` }) }),
  async loadExistingGrant(context) {
    const { Grant } = context.oidc.provider;
    const grant = new Grant({ clientId: context.oidc.client.clientId, accountId: context.oidc.session.accountId });
    grant.addOIDCScope('openid email');
    await grant.save();
    return grant;
  },
});

const answer = provider.callback();
createServer(async (request, response) => {
  if (!request.url.startsWith('/interaction/')) return answer(request, response);
  const [accountId, time] = account.split(' ');
  return provider.interactionFinished(request, response, { login: { accountId, ...(time && { ts: Number(time) }) } });
}).listen(port, '127.0.0.1', () => process.stdout.write(`${issuer}\n`));

createInterface({ input: process.stdin }).on('line', (line) => {
  account = line;
  process.stdout.write(`${line}\n`);
});
