// Checks deliveries with the stock `standardwebhooks` package. Reads [{secret, headers, body}] from standard input.
// Prints for each whether it verifies and returns the body, as a JSON array.
import { isDeepStrictEqual } from 'node:util';
import { json } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

const verifies = ({ secret, headers, body }) => {
  try {
    return isDeepStrictEqual(new Webhook(secret).verify(body, headers), JSON.parse(body));
  } catch {
    return false;
  }
};
console.log(JSON.stringify((await json(process.stdin)).map(verifies)));
