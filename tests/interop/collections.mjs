// ctest: timeout=900 waits
// The collections for Bruno and Postman are current, and every request of them passes against a demo: `bru run` and
// `newman`, with the environment that collections/environment fills. Judged by the traffic, every operation of the
// document is called, or collections/steps.json names the reason, and every response has a documented status.
// Controls: a changed file is stale; with a wrong secret, and with a wrong expectation, both runners fail.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const info = JSON.parse(process.env.COFFER_TEST);
const here = dirname(fileURLToPath(import.meta.url));
const collections = join(here, '../../collections');
const packages = join(here, 'node_modules');
const copy = join(info.folder, 'collections');
cpSync(collections, copy, { recursive: true });

function run(program, words, { cwd = copy, input = '', code = 0 } = {}) {
  const done = spawnSync(program, words, { cwd, input, encoding: 'utf8', maxBuffer: 1 << 28 });
  assert.equal(done.status, code, `${program} ${words.join(' ')}: ${done.stdout}${done.stderr}`);
  return done.stdout;
}

// --- The files ------------------------------------------------------------------------------------------

run('python3', ['-B', join(collections, 'generate'), '--check', info.binary]);
appendFileSync(join(copy, 'bruno/01-auth/createToken.bru'), '\n');
writeFileSync(join(copy, 'bruno/01-auth/former.bru'), '');
const stale = run('python3', ['-B', 'generate', '--check', info.binary], { code: 1 });
assert.match(stale, /stale: collections\/bruno\/01-auth\/createToken\.bru/);
assert.match(stale, /stale: collections\/bruno\/01-auth\/former\.bru/);
run('python3', ['-B', 'generate', info.binary]);
assert.ok(!existsSync(join(copy, 'bruno/01-auth/former.bru')), 'generate removes a file that it would not write');
run('python3', ['-B', 'generate', '--check', info.binary]);

const { folder: _, binary: __, ...facts } = info;
run('python3', ['-B', 'environment'], { input: JSON.stringify(facts) + '\n' });
for (const name of ['bruno/.env', 'demo.postman_environment.json']) {
  assert.equal(statSync(join(copy, name)).mode & 0o777, 0o600, `${name} is private`);
}
run('python3', ['-B', 'environment'], { input: '{}\n', code: 1 });
// interop.cli compares these names with the file that `coffer demo --env` writes.
const documented = readFileSync(join(here, '../../docs/sandbox.md'), 'utf8').split('## Keys for programs')[1].split('\n## ')[0];
for (const [, name] of readFileSync(join(copy, 'bruno/.env'), 'utf8').matchAll(/^(.*?)=/gm)) {
  assert.ok(documented.includes(`\`${name}\``), `coffer demo --env writes ${name}, too`);
}

// --- The runners ----------------------------------------------------------------------------------------

const report = join(info.folder, 'report.json');
const postman = (name) => join(copy, name);

/** The words after a program in the commands of the README. */
const readme = readFileSync(join(collections, 'README.md'), 'utf8');
const wordsOf = (program) => readme.match(new RegExp(`\\b${program} (run .*)\n`))[1].split(' ');

/** Runs a collection. Returns its requests, in order: name, method, path, status, and the failed checks. */
const runners = {
  bruno({ code = 0 } = {}) {
    rmSync(report, { force: true });
    run(process.execPath, [join(packages, '@usebruno/cli/bin/bru.js'), ...wordsOf('bru'), '--reporter-json', report],
      { cwd: join(copy, 'bruno'), code });
    return JSON.parse(readFileSync(report, 'utf8')).flatMap((each) => each.results).map((result) => ({
      name: result.name,
      method: result.request.method,
      // The report hides the values of .env, also the base URL.
      path: result.request.url.replace(/^.*?(?=\/v1\/)|\?.*$/g, ''),
      status: result.response.status,
      faults: [...result.assertionResults, ...(result.testResults ?? [])].filter((each) => each.status !== 'pass')
        .map((each) => each.error ?? JSON.stringify(each)).concat(result.error ?? []),
      checks: result.assertionResults.length,
    }));
  },
  newman({ code = 0 } = {}) {
    rmSync(report, { force: true });
    run(process.execPath, [join(packages, 'newman/bin/newman.js'), ...wordsOf('newman'), '--reporters', 'json',
      '--reporter-json-export', report], { cwd: info.folder, code });
    return JSON.parse(readFileSync(report, 'utf8')).run.executions.map((each) => ({
      name: each.item.name,
      method: each.request.method,
      path: '/' + each.request.url.path.join('/'),
      status: each.response?.code,
      faults: (each.assertions ?? []).filter((one) => one.error).map((one) => one.error.message)
        .concat(each.requestError?.message ?? []),
      checks: each.assertions?.length ?? 0,
    }));
  },
};

const steps = JSON.parse(readFileSync(join(collections, 'steps.json'), 'utf8'));
const document = JSON.parse(run(info.binary, ['openapi']));
const operations = Object.entries(document.paths).flatMap(([template, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ template, method: method.toUpperCase(), operation })));

/** The operation of a request: of the templates that match its path, the one with the fewest parameters. */
function operationOf({ method, path }) {
  const parts = path.split('/');
  const fits = operations.filter((each) => {
    const wanted = each.template.split('/');
    return each.method === method && wanted.length === parts.length &&
      wanted.every((part, at) => part.startsWith('{') || part === parts[at]);
  });
  const parameters = (each) => each.template.split('{').length;
  return fits.sort((a, b) => parameters(a) - parameters(b))[0]?.operation;
}

function judge(runner, rows) {
  assert.equal(rows.length, steps.steps.length, `${runner} runs every step`);
  const called = new Set();
  for (const row of rows) {
    assert.deepEqual(row.faults, [], `${runner}: ${row.name}: ${row.method} ${row.path}: ${row.status}`);
    assert.ok(row.checks > 0, `${runner}: ${row.name} checks something`);
    const operation = operationOf(row);
    assert.ok(operation, `${runner}: ${row.method} ${row.path} is in the document`);
    assert.ok(String(row.status) in operation.responses, `${runner}: ${operation.operationId}: ${row.status} is documented`);
    assert.ok(row.status < 300 || row.status === 402, `${runner}: ${operation.operationId}: ${row.status} is a success`);
    called.add(operation.operationId);
  }
  for (const { operation } of operations) {
    const id = operation.operationId;
    assert.ok(called.has(id) !== id in steps.leftOut, `${runner}: ${id} is either called or left out with a reason`);
  }
  console.log(`ok       ${runner}: ${rows.length} requests, ${called.size} operations`);
}

// Both runs use the same demo: each has its own transaction IDs, and leaves no webhook behind.
for (const [runner, go] of Object.entries(runners)) judge(runner, go());

// --- Controls -------------------------------------------------------------------------------------------

const failures = (rows) => rows.filter((row) => row.faults.length > 0).map((row) => row.name);
const change = (name, from, to) => {
  const path = join(copy, name);
  const text = readFileSync(path, 'utf8');
  assert.ok(text.includes(from), `${name} contains ${from}`);
  writeFileSync(path, text.replace(from, to));
};

const quotas = 'bruno/02-associations/listQuotas.bru';
const quotasName = operations.find((each) => each.operation.operationId === 'listQuotas').operation.summary;
change(quotas, 'eq 200', 'eq 201');
assert.deepEqual(failures(runners.bruno({ code: 1 })), [quotasName], 'control: bru reports the wrong expectation');
change(quotas, 'eq 201', 'eq 200');
const collection = JSON.parse(readFileSync(postman('coffer.postman_collection.json'), 'utf8'));
const item = collection.item.flatMap((each) => each.item).find((each) => each.name === quotasName);
item.event[0].script.exec = item.event[0].script.exec.map((line) => line.replaceAll('200', '201'));
writeFileSync(postman('coffer.postman_collection.json'), JSON.stringify(collection));
assert.deepEqual(failures(runners.newman({ code: 1 })), [quotasName], 'control: newman reports the wrong expectation');
run('python3', ['-B', 'environment'], { input: JSON.stringify({ ...facts, clientSecret: 'sk_wrong' }) + '\n' });
for (const [runner, go] of Object.entries(runners)) {
  assert.ok(failures(go({ code: 1 })).length > steps.steps.length / 2, `control: ${runner} fails with a wrong secret`);
}
console.log('ok       controls: a stale file, a wrong expectation, a wrong secret');
