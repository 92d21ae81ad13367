// Input of both programs: the first line of `coffer demo --json`.
export interface Demo {
  baseUrl: string;
  clientId: string;
  clientSecret: string;
  apiKey: string;
  wallets: { id: string; name: string; assetCode: string }[];
  beneficiaries: { id: string; name: string; destinations: { id: string; method: string }[] }[];
  connectors: { id: string; name: string; flow: string; direction: string; method: string; assetCode: string }[];
}

declare const process: { stdin: AsyncIterable<Uint8Array> };

export async function readDemo(): Promise<Demo> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const piece of process.stdin) text += decoder.decode(piece, { stream: true });
  return JSON.parse(text) as Demo;
}

/** The first element, which exists in the demo. */
export function first<T>(list: T[], what: string, fits: (each: T) => boolean = () => true): T {
  const found = list.find(fits);
  if (found === undefined) throw new Error(`there is no ${what}`);
  return found;
}

export function check(what: string, holds: boolean): void {
  if (!holds) throw new Error(what);
}

export const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

/** Whether two types are equal: a success has one shape, not one of several. */
export type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
