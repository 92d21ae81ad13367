// ctest: cost=30
// The samples of the API reference: each operation has one for curl and for every client. A sample calls a method that the
// generated client has, and the language's own checker accepts it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { articles, constant, operations } from './docs_page.mjs';

const clients = fileURLToPath(new URL('../../clients', import.meta.url));
const packages = fileURLToPath(new URL('node_modules', import.meta.url));
const { folder, clientId, clientSecret, apiKey, publicKey, signInSecret, connectSecret } = JSON.parse(process.env.COFFER_TEST);
const place = join(folder, 'samples');
const samples = constant('cofferSamples');
const callOf = constant('callOf');
assert.deepEqual(Object.keys(samples), ['curl', 'TypeScript', 'Python', 'Go', 'PHP']);

// Providers call this one, so the clients do not have it, and the page shows the call itself.
const own = operations.filter(({ operation }) => operation.operationId !== 'takeProviderCallback');
const sample = (language, { method, path, operation }) => samples[language](callOf(method, path, operation));
const [callback] = operations.filter((each) => !own.includes(each));
for (const language of Object.keys(samples)) assert.match(sample(language, callback), /^curl -s /, language);

// The page shows the sample of the chosen language.
for (const id of ['createQuote', 'listWallets', 'createBeneficiary']) {
  const known = operations.find(({ operation }) => operation.operationId === id);
  for (const language of Object.keys(samples)) {
    [...articles.get(id).all('button')].find((each) => each.textContent === language).click();
    assert.equal([...articles.get(id).all('pre')].at(-1).textContent, sample(language, known), `${id} in ${language}`);
  }
}

// Names: the methods that the samples call are those of the generated clients, all of them.
const read = (path) => readFileSync(join(clients, path), 'utf8');
const LANGUAGES = {
  TypeScript: {
    file: 'ts', called: /client\.(\w+)\(/, declared: /^  (\w+)\((?:$|.*options: CallOptions)/gm, source: 'typescript/src/client.ts',
  },
  Python: { file: 'py', called: /client\.(\w+)\(/, declared: /^    def (\w+)\(/gm, source: 'python/coffer/client.py' },
  Go: { file: 'go', called: /client\.(\w+)\(/, declared: /^func \(c \*Client\) (\w+)\(/gm, source: 'go/operations.go' },
  PHP: { file: 'php', called: /\$client->(\w+)\(/, declared: /^    public function (\w+)\(/gm, source: 'php/src/operations.php' },
};
for (const [language, { called, declared, source }] of Object.entries(LANGUAGES)) {
  const methods = [...read(source).matchAll(declared)].map(([, name]) => name);
  // A list also has a method for one page, in two languages.
  const expected = methods.filter((name) => !(name.endsWith('Page') && methods.includes(name.slice(0, -4))));
  const found = own.map((each) => called.exec(sample(language, each))?.[1]);
  assert.deepEqual(found.sort(), expected.sort(), language);
}

// Types: the checker of each language reads all samples at once, and rejects a wrong one.
const WRONG = {
  TypeScript: ['clientId:', 'clientNumber:'], Python: ['client_id=', 'client_number='], Go: ['ClientID: ', 'ClientNumber: '],
  PHP: ['clientId:', 'clientNumber:'],
};

function write(language, name, text) {
  const target = join(place, language, name);
  mkdirSync(join(target, '..'), { recursive: true });
  writeFileSync(target, `${text}\n`);
  return target;
}

/** Writes all samples of a language, and one with a wrong name into the folder `wrong`. */
function writeAll(language, change = (text) => text) {
  for (const each of own) {
    const id = each.operation.operationId;
    write(language, `all/${id}.${LANGUAGES[language].file}`, change(sample(language, each), id));
  }
  const [right, wrong] = WRONG[language];
  const text = change(sample(language, own.find(({ operation }) => operation.operationId === 'getWallet')), 'getWallet');
  assert.ok(text.includes(right));
  write(language, `wrong/getWallet.${LANGUAGES[language].file}`, text.replace(right, wrong));
}

function run(program, args, options = {}) {
  const done = spawnSync(program, args, { encoding: 'utf8', ...options });
  assert.ok(!done.error, `${program}: ${done.error}. Run ./dev setup`);
  return { failed: done.status !== 0, said: (done.stdout + done.stderr).slice(-3000) };
}

// A failure of the API is a right call; what the samples print is left out.
const RUN_PHP = `<?php
foreach (glob('*.php') as $name) {
    ob_start();
    try {
        (function () use ($name) { include $name; })();
        ob_end_clean();
    } catch (Coffer\\InvalidArgument | Error $wrong) {
        ob_end_clean();
        exit("$name: $wrong");
    } catch (Coffer\\Failure) {
        ob_end_clean();
    }
}
echo 'all called';`;

const CHECKS = {
  TypeScript: () => {
    const environment = 'declare const process: { env: { [name: string]: string | undefined } };\ndeclare const console: { log(value: unknown): void };\n';
    writeAll('TypeScript');
    return (part) => {
      write('TypeScript', `${part}/process.d.ts`, environment);
      write('TypeScript', `${part}/package.json`, '{"type": "module"}');
      write('TypeScript', `${part}/tsconfig.json`, JSON.stringify({
        extends: join(clients, 'typescript/tsconfig.json'),
        compilerOptions: { noEmit: true, declaration: false, rootDir: '/', paths: { 'coffer-client': [join(clients, 'typescript/src/index.ts')] } },
        include: ['*.ts'],
      }));
      return run('node', [join(packages, 'typescript/bin/tsc'), '-p', join(place, 'TypeScript', part)]);
    };
  },
  Python: () => {
    writeAll('Python');
    return (part) => run('mypy', ['--strict', '--no-error-summary', '--scripts-are-modules', '--cache-dir', join(place, 'mypy'), join(place, 'Python', part)],
      { env: { ...process.env, MYPYPATH: join(clients, 'python') } });
  },
  Go: () => {
    // One package with all samples is checked faster than as many packages.
    writeAll('Go', (text, id) => text.replace('package main', 'package samples').replace('func main()', `func ${id}()`));
    const go = spawnSync('sh', ['-c', 'dirname "$(readlink -f "$(command -v go)")"'], { encoding: 'utf8' }).stdout.trim();
    return (part) => {
      write('Go', `${part}/go.mod`, `module samples\ngo 1.19\nrequire coffer.example/go/coffer v0.0.0\nreplace coffer.example/go/coffer => ${join(clients, 'go')}\n`);
      const cwd = join(place, 'Go', part);
      const vetted = run('go', ['vet', '.'], { cwd, env: { ...process.env, GOFLAGS: '-mod=mod', GOPROXY: 'off', GOTOOLCHAIN: 'local' } });
      const { said } = run(join(go, 'gofmt'), ['-l', '.'], { cwd });
      return { failed: vetted.failed || said !== '', said: vetted.said + said };
    };
  },
  PHP: () => {
    // PHP finds a wrong name when it calls, so the samples run, against the demo.
    writeAll('PHP');
    const secrets = { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, KEY: apiKey, PUBLIC_KEY: publicKey, SIGN_IN_SECRET: signInSecret, CONNECT_SECRET: connectSecret };
    return (part) => {
      write('PHP', `${part}/vendor/autoload.php`, `<?php\nrequire_once '${join(clients, 'php/src/autoload.php')}';\n`);
      write('PHP', `${part}/vendor/run.php`, RUN_PHP);
      const done = run('php', ['vendor/run.php'], { cwd: join(place, 'PHP', part), env: { ...process.env, ...secrets } });
      return { ...done, failed: done.said !== 'all called' };
    };
  },
};
for (const [language, prepare] of Object.entries(CHECKS)) {
  const judge = prepare();
  const { failed, said } = judge('all');
  assert.ok(!failed, `${language}: ${said}`);
  const control = judge('wrong');
  assert.ok(control.failed && /client_?Number/i.test(control.said), `control: a wrong sample in ${language} is accepted: ${control.said}`);
}
const scripts = own.map((each) => sample('curl', each)).join('\n');
const shell = run('bash', ['-n'], { input: scripts });
assert.ok(!shell.failed, shell.said);
rmSync(place, { recursive: true });

console.log(`${own.length} operations in ${Object.keys(samples).length} languages`);
