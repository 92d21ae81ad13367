// Part of mail.py: stock mail servers (smtp-server). Prints their ports as the first line, and then each message.
import { readFileSync } from 'node:fs';

import { SMTPServer } from 'smtp-server';

const { cert, key, user, password } = JSON.parse(process.env.COFFER_TEST);
const tls = { cert: readFileSync(cert), key: readFileSync(key) };
const plain = { authOptional: true, disabledCommands: ['STARTTLS', 'AUTH'] };
const kinds = {
  plain,
  starttls: { ...tls },
  smtps: { ...tls, secure: true },
  withoutTls: plain,
  refusing: {
    ...plain,
    onRcptTo({ address }, _, done) {
      const refusal = new Error(`5.1.1 <${address}>: no such mailbox here`);
      refusal.responseCode = 550;
      done(refusal);
    },
  },
};

const ports = {};
for (const [name, options] of Object.entries(kinds)) {
  const server = new SMTPServer({
    logger: false,
    disableReverseLookup: true,
    onAuth(given, _, done) {
      const right = given.username === user && given.password === password;
      done(right ? null : new Error('Authentication failed'), right ? { user } : undefined);
    },
    onData(stream, session, done) {
      const parts = [];
      stream.on('data', (part) => parts.push(part));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        console.log(
          JSON.stringify({
            server: name,
            user: session.user ?? null,
            secure: session.secure,
            from: mailFrom.address,
            to: rcptTo.map(({ address }) => address),
            message: Buffer.concat(parts).toString('base64'),
          }),
        );
        done();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  await new Promise((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  ports[name] = server.server.address().port;
}
console.log(JSON.stringify(ports));
process.stdin.on('end', () => process.exit(0)).resume();
