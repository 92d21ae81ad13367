// ctest: binary=dev
// Clients that stock generators (openapi-typescript with openapi-fetch, and hey-api) create from `coffer openapi`
// compile with the strictest TypeScript, need no narrowing of a success, and pay against a running demo (./clients).
// Control: a program with wrong types does not compile.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const info = JSON.parse(process.env.COFFER_TEST);
const here = dirname(fileURLToPath(import.meta.url));
const packages = join(here, 'node_modules');
const scratch = mkdtempSync(join(tmpdir(), 'coffer-clients-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));

const run = (script, ...args) =>
  execFileSync(process.execPath, [join(packages, script), ...args], { cwd: scratch, stdio: ['ignore', 'pipe', 'inherit'] });

function generate() {
  writeFileSync(join(scratch, 'openapi.json'), execFileSync(info.binary, ['openapi'], { maxBuffer: 1 << 26 }));
  writeFileSync(join(scratch, 'package.json'), '{"type":"module"}');
  symlinkSync(packages, join(scratch, 'node_modules'));
  mkdirSync(join(scratch, 'programs'));
  for (const name of ['fetch.ts', 'hey.ts', 'story.ts', 'wrong.ts']) {
    copyFileSync(join(here, 'clients', name), join(scratch, 'programs', name));
  }
  run('openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'programs/schema.ts');
  copyFileSync(join(here, 'clients', 'openapi-ts.config.mjs'), join(scratch, 'openapi-ts.config.mjs'));
  run('@hey-api/openapi-ts/bin/run.js', '--file', 'openapi-ts.config.mjs', '--silent');
}

/** Exit code and output of the compiler for these programs. */
function compile(...programs) {
  const options = {
    compilerOptions: {
      strict: true, exactOptionalPropertyTypes: false, noUncheckedIndexedAccess: true, target: 'es2022', module: 'nodenext',
      moduleResolution: 'nodenext', outDir: 'compiled', rootDir: 'programs', skipLibCheck: true, types: [],
      lib: ['es2023', 'dom', 'dom.iterable'],
    },
    files: programs.map((name) => `programs/${name}`),
  };
  writeFileSync(join(scratch, 'tsconfig.json'), JSON.stringify(options));
  const { status, stdout } = spawnSync(process.execPath, [join(packages, 'typescript/bin/tsc'), '-p', scratch], { encoding: 'utf8' });
  return { status, text: stdout };
}

generate();
const good = compile('fetch.ts', 'hey.ts');
assert.equal(good.status, 0, good.text);

// The compiler must reject each line marked "wrong", and no other.
const wrong = compile('wrong.ts');
const marked = readFileSync(join(scratch, 'programs', 'wrong.ts'), 'utf8').split('\n')
  .flatMap((line, i) => (line.includes('// wrong: ') ? [i + 1] : []));
const rejected = [...wrong.text.matchAll(/wrong\.ts\((\d+),/g)].map(([, line]) => Number(line));
assert.ok(marked.length > 0);
assert.deepEqual([...new Set(rejected)], marked, wrong.text);

for (const name of ['fetch', 'hey']) {
  const out = execFileSync(process.execPath, [join(scratch, 'compiled', `${name}.js`)], {
    input: JSON.stringify(info), encoding: 'utf8', stdio: ['pipe', 'pipe', 'inherit'],
  });
  process.stdout.write(out);
}
