// A provider and a receiver of webhooks that answer with scripts wherever an answer has text.
import { createServer } from 'node:http';

export const SCRIPT = '<img src=x onerror="window.owned=true"><script>window.owned=true</script>';

async function bodyOf(request) {
  let text = '';
  for await (const part of request) text += part;
  return text === '' ? {} : JSON.parse(text);
}

async function listening(server) {
  await new Promise((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${server.address().port}`;
}

/** Prices one to one; refuses payouts to 1102 with a script, leaves others pending under one. */
function answerOf(path, asked) {
  if (path === '/quotes')
    return [200, { sendAmount: asked.amount, receiveAmount: asked.amount, rate: '1', fee: '0.00' }];
  if (path === '/payouts' && asked.recipient.accountNumber.endsWith('1102'))
    return [422, { code: 'account_closed', message: SCRIPT }];
  return [202, { id: asked.id ?? path.split('/')[2], status: 'pending', providerReference: SCRIPT }];
}

/** {provider, receiver, close()}: where they listen. */
export async function outside() {
  const provider = createServer(async (request, answer) => {
    const [status, told] = answerOf(request.url, await bodyOf(request));
    answer.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(told));
  });
  let answers = 0;
  const receiver = createServer(async (request, answer) => {
    await bodyOf(request);
    answers += 1;
    const reason = answers % 2 === 0 ? SCRIPT : 'Internal Server Error';
    answer.writeHead(500, reason, { 'Content-Type': 'text/html', 'X-Answer': SCRIPT }).end(SCRIPT);
  });
  const servers = [provider, receiver];
  return {
    provider: await listening(provider),
    receiver: await listening(receiver),
    close() {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}
