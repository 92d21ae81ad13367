// A demo of coffer that a script runs against, in a folder of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A child that does not outlive this process, also when that ends by an error nobody caught. */
export function endsWithUs(child) {
  process.on('exit', () => child.kill('SIGKILL'));
  return child;
}

/** Starts the demo on a free port and gives what its first line says. */
export async function startDemo(binary, folder) {
  const arguments_ = ['demo', '--db', join(folder, 'demo.db'), '--port', '0', '--json'];
  const demo = endsWithUs(spawn(binary, arguments_, { stdio: ['ignore', 'pipe', 'inherit'] }));
  const ended = once(demo, 'exit').then(([code]) => {
    throw new Error(`the demo ended early: ${code}`);
  });
  ended.catch(() => {}); // once it has said hello, its end is no failure
  const [line] = await Promise.race([once(createInterface({ input: demo.stdout }), 'line'), ended]);
  return { demo, info: JSON.parse(line) };
}

/** Calls `check` with what the demo says of itself, and takes everything away afterwards. */
export async function withDemo(binary, check) {
  const folder = mkdtempSync(join(tmpdir(), 'coffer-interop-'));
  let running;
  try {
    running = await startDemo(binary, folder);
    await check(running.info);
  } finally {
    if (running) {
      const gone = once(running.demo, 'exit');
      running.demo.kill('SIGTERM');
      await gone;
    }
    rmSync(folder, { recursive: true, force: true });
  }
}
