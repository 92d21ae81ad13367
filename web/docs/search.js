// The search in guides (by section), operations, events, problems, fields and the glossary. Words match by their stem, by
// a related word, or by their beginning.
'use strict';

const cofferSearch = (() => {
  const GROUPS = ['Guides', 'Operations and events', 'Problems, fields and terms'];
  const SHOWN = [5, 6, 6];
  const SNIPPET = 150; // characters
  const POPULAR = ['refund', 'webhook signature', 'error codes'];

  /** The anchor of a heading; guide.js uses it too. */
  const slug = (heading) =>
    heading.toLowerCase().replace(/`/g, '').replace(/[^\p{L}\p{N} _-]/gu, '').trim().replaceAll(' ', '-');

  // --- Words ------------------------------------------------------------------------------------------

  /** The stem of a word: retries and retried -> retry, settled and settling -> settl. */
  function stem(word) {
    if (word.length < 4 || /\d/.test(word)) return word;
    let out = word.replace(/ie[sd]$/, 'y').replace(/(ss|x|ch|sh)es$/, '$1').replace(/([^sui])s$/, '$1');
    const [, rest] = /^(.*[aeiouy].*)(?:ing|ed)$/.exec(out) || [];
    if (rest?.length > 2 && !out.endsWith('eed')) out = rest.replace(/([bdfgmnprt])\1$/, '$1');
    out = out.replace(/ification$/, 'ify').replace(/^(.{3,})ation$/, '$1at').replace(/^(.{6,})ment$/, '$1');
    return out.length > 3 ? out.replace(/e$/, '') : out;
  }

  /** The words of a text with their places. A compound (`transactionId`, off-ramp) counts whole and by its parts. */
  function wordsOf(text) {
    const out = [];
    for (const { 0: found, index: start } of text.matchAll(/[\p{L}\p{N}]+(?:[-_.'][\p{L}\p{N}]+)*/gu)) {
      const parts = found.replace(/'\w+$/, '').split(/[-_.']|(?<=[a-z0-9])(?=[A-Z])/).map((part) => part.toLowerCase());
      for (const word of parts.length > 1 ? [parts.join(''), ...parts] : parts)
        out.push({ word, term: stem(word), isWhole: parts.length > 1 && word === parts.join(''), start, end: start + found.length });
    }
    return out;
  }

  const stems = (text) => wordsOf(text).filter(({ isWhole }) => !isWhole).map(({ term }) => term);

  const STOP = new Set(stems('a an and any are can do does for from get have how i if in is it me my need of on or should that the there this to use want what when where which why will with work you'));

  // What people type, and what the texts say.
  const RELATED = [
    'error|problem|error code', 'idempotency|idempotent|duplicate|twice|transactionId|double payment',
    'offramp|payout|pay out|cash-out|withdraw|withdrawal|disburse', 'onramp|cash in|pay in|deposit|top up',
    'signature|sign|hmac', 'beneficiary|recipient|payee', 'swap|exchange|convert|fx|conversion|exchange rate', 'fee|cost|price|commission',
    'pagination|paging|cursor|nextCursor', 'rate limit|throttle|too many requests|429', 'retry|resend|attempt',
    'refund|reverse|reversal|chargeback', 'authentication|login|log in|sign in|token|bearer', 'secret|key|credential|password',
    'sandbox|test|test data|simulate|mock|demo', 'statement|history|report|reconcile', 'mobile money|momo|m-pesa|mpesa', 'bank|iban',
    'review|kyc|onboarding', 'failed delivery|dead letter', 'callback|webhook|ipn', 'tls|https|ssl|certificate',
    'monitoring|metric|prometheus|alert', 'production|live|go live', 'amount|decimal|precision|rounding', 'balance|fund|money',
    'scope|permission|role', 'expire|expiry|expiration|timeout', 'pay|payment|paid', 'status|state', 'bulk|batch|csv', 'rotate|renew',
    'create|add|new|register', 'change|update|edit', 'list|search|all', 'delete|remove', 'read|fetch|retrieve', 'quota|limit|maximum',
    'crypto|blockchain|stellar|network',
    'payment status|payment state|transaction records', 'openapi|swagger|postman',
  ].map((line) => line.split('|').map((words) => stems(words)));
  const related = new Map(); // the joined terms of words in a row -> the others, each as its terms
  for (const row of RELATED) {
    for (const words of row) {
      const key = words.join('');
      related.set(key, [...(related.get(key) || []), ...row.filter((each) => each !== words)]);
    }
  }

  // --- What can be found ------------------------------------------------------------------------------

  const plain = (markdown) =>
    markdown.replace(/^[-:| ]+$/gm, ' ').replace(/\[([^\]]+)\]\([^)]+\)/g, '$1').replace(/[`*]/g, '').replace(/[|\s]+/g, ' ').trim();

  /** The sections of a guide. Code blocks are left out: their words say little. */
  function split(name, title, text) {
    const out = [{ heading: title, href: `/docs/guides/${name}`, above: [], lines: [] }];
    let above = [];
    let fenced = false;
    for (const line of text.split('\n')) {
      if (/^\s*```/.test(line)) fenced = !fenced;
      const [, marks, heading] = (!fenced && /^(#{1,4}) (.+)$/.exec(line)) || [];
      if (marks?.length > 1) {
        above = [...above.slice(0, marks.length - 2), heading.replaceAll('`', '')];
        out.push({ heading: above.at(-1), href: `/docs/guides/${name}#${slug(heading)}`, above: above.slice(0, -1), lines: [] });
      } else if (!marks && !fenced && !line.includes('```')) {
        out.at(-1).lines.push(line);
      }
    }
    return out.map(({ heading, href, above: parents, lines }) => {
      const kind = [...(heading === title ? [] : [title]), ...parents].join(' › ');
      return { group: 0, kind, heading, href, context: kind, text: plain(lines.join('\n')) };
    });
  }

  async function guides() {
    const all = await Promise.all(cofferTexts.guides.map(async ([name, title]) => {
      const response = await fetch(`/docs/guides/${name}.md`);
      return response.ok ? split(name, title, await response.text()) : [];
    }));
    return all.flat();
  }

  /** Calls `take(name, description)` for each member of a schema, to a limited depth. */
  function walk(schema, take, depth = 0, seen = new Set()) {
    if (!schema || depth > 4 || seen.has(schema.$ref)) return;
    if (schema.$ref) seen.add(schema.$ref);
    const target = resolve(schema);
    for (const [name, member] of Object.entries(target.properties || {})) {
      take(name, member.description || resolve(member).description || '', resolve(member).enum);
      walk(member, take, depth + 1, seen);
    }
    for (const each of [target.items, ...(alternatives(target) || []), ...(target.allOf || [])]) walk(each, take, depth + 1, seen);
  }

  /** Operations and events, and the fields of their requests and responses. */
  function operations() {
    const fields = new Map();
    const entry = (operation, contents, rest) => {
      const lines = [];
      const take = (name, description, values) => {
        lines.push(`${name}: ${[description, (values || []).join(', ')].filter(Boolean).join(': ')}`);
        const known = fields.get(name) || fields.set(name, { lines: new Set(), places: [] }).get(name);
        if (description) known.lines.add(description);
        if (!known.places.includes(rest.href)) known.places.push(rest.href);
      };
      for (const each of operation.parameters || []) take(resolve(each).name, resolve(each).description || '', resolve(resolve(each).schema).enum);
      for (const { schema } of contents) walk(schema, take);
      return { group: 1, text: plain([operation.description?.replace(/\.$/, ''), ...lines].filter(Boolean).join('. ')), ...rest };
    };
    const bodies = (operation) => [operation.requestBody, ...Object.values(operation.responses).filter((each) => !each.$ref)]
      .flatMap((each) => Object.values(each?.content || {}));
    const out = operationsByTag().flatMap((tag) => tag.operations.map(({ method, path, operation }) =>
      entry(operation, bodies(operation), {
        heading: operation.summary, kind: `${method.toUpperCase()} ${path}`, context: tag.name,
        names: `${method} ${path} ${operation.operationId}`, href: `#${operation.operationId}`,
      })));
    for (const [type, { post }] of Object.entries(openapi.webhooks)) {
      const rest = { heading: type, kind: `Event: ${post.summary}`, context: 'event webhook', names: post.summary, href: `#event-${type}` };
      out.push(entry({ description: post.description }, bodies({ ...post, responses: {} }), rest));
    }
    for (const [name, { lines, places }] of fields) {
      const others = places.length > 1 ? ` and ${places.length - 1} more` : '';
      out.push({ group: 2, heading: name, kind: `Field of ${places[0].slice(1)}${others}`, href: places[0], text: plain([...lines].join('. ')) });
    }
    return out;
  }

  /** Problems, with their titles and remedies, and the glossary. */
  function problems() {
    const out = new Map();
    for (const { summary, description, value } of Object.values(openapi.components.examples || {})) {
      const name = /^urn:coffer:problem:(.+)$/.exec(value?.type)?.[1];
      if (!name) continue;
      const kind = `Problem, status ${value.status}`;
      out.set(name, { group: 2, heading: name, kind, names: `${value.status} ${summary}`, context: 'error problem', href: `/problems/${name}`, text: plain(description) });
    }
    const words = cofferTexts.glossary.map(([heading, text]) => ({ group: 2, heading, kind: 'Glossary', href: `#term-${slug(heading)}`, text }));
    return [...out.values(), ...words];
  }

  // --- Ranking ----------------------------------------------------------------------------------------

  let loading; // the index; made at the first search

  /** The weight of each term of an entry: a heading counts more than what stands above it, and that more than the text. */
  function weigh(entry) {
    const weights = new Map();
    const add = (text, each) => {
      const found = [...new Set(wordsOf(text || '').map(({ term }) => term))];
      for (const term of found) weights.set(term, (weights.get(term) || 0) + each(found.length));
    };
    add(entry.heading, (count) => 9 / (1 + 0.1 * count));
    add(entry.names, (count) => 6 / (1 + 0.1 * count));
    add(entry.context, () => 2);
    const counts = new Map();
    const all = wordsOf(entry.text);
    for (const { term } of all) counts.set(term, (counts.get(term) || 0) + 1);
    for (const [term, count] of counts) weights.set(term, (weights.get(term) || 0) + (3 * count) / (count + 1 + all.length / 150));
    return weights;
  }

  async function build() {
    const entries = [...(await guides()), ...operations(), ...problems()];
    const counts = new Map(); // term -> entries
    const spelled = new Map(); // term -> a word
    for (const entry of entries) {
      entry.weights = weigh(entry);
      entry.title = ` ${stems(entry.heading).join(' ')} `;
      for (const term of entry.weights.keys()) counts.set(term, (counts.get(term) || 0) + 1);
      for (const { word, term } of wordsOf(`${entry.heading} ${entry.text}`)) if (!spelled.has(term)) spelled.set(term, word);
    }
    return { entries, counts, spelled, rarity: (term) => Math.log(1 + entries.length / counts.get(term)) };
  }

  /** What the words of a question stand for: {terms, weight} of themselves, of related words, and of words that begin so. */
  function meanings({ counts }, words) {
    const out = [];
    const add = (terms, weight) => {
      if (terms.every((term) => counts.has(term))) out.push({ terms, weight });
    };
    const own = words.map(({ term }) => term);
    const isWritten = words[0].start === words.at(-1).start; // as one: off-ramp, so its parts alone do not count
    for (const terms of [own, ...(related.get(own.join('')) || [])]) {
      const weight = terms === own ? 1 : 0.6;
      add([terms.join('')], weight);
      if (terms.length > 1 && !(terms === own && isWritten)) add(terms, 0.8 * weight);
    }
    const [{ word, term: key }] = words;
    if (words.length > 1 || word.length < 3) return out;
    for (const term of counts.keys()) {
      if (term.startsWith(word) || term.startsWith(key)) add([term], 0.5);
      else if (term.length > 3 && word.startsWith(term) && word.length - term.length < 3) add([term], 0.4);
    }
    return out;
  }

  /** The words of a question, each with its meanings. Several words can be one: pay out, web hook. */
  function questions(index, text) {
    const typed = wordsOf(text).filter(({ isWhole }) => !isWhole);
    const out = [];
    for (let at = 0; at < typed.length;) {
      const length = [5, 4, 3, 2].find((count) => {
        const own = typed.slice(at, at + count).map(({ term }) => term);
        const isWritten = typed[at].start === typed[at + count - 1]?.start; // as one word: transactionId
        const isCompound = index.counts.has(own.join('')) && (isWritten || !own.every((term) => index.counts.has(term)));
        return own.length === count && (related.has(own.join('')) || isCompound);
      }) || 1;
      const words = typed.slice(at, at + length);
      if (length > 1 || !STOP.has(words[0].term)) out.push({ word: words.map(({ word }) => word).join(' '), meant: meanings(index, words) });
      at += length;
    }
    return out;
  }

  /** Every word found counts more than some words found often. */
  function score(index, entry, asked, text) {
    let sum = 0;
    let matched = 0;
    for (const { meant } of asked) {
      const worth = (term) => (entry.weights.get(term) || 0) * index.rarity(term);
      const best = Math.max(0, ...meant.map(({ terms, weight }) => weight * Math.min(...terms.map(worth))));
      sum += best;
      matched += best > 0 ? 1 : 0;
    }
    const phrase = ` ${stems(text).join(' ')} `;
    const isExact = entry.title === phrase || [entry.kind, entry.href.slice(1)].includes(text.trim());
    const isPhrase = asked.length > 1 && entry.title.includes(phrase);
    return { entry, matched, isExact, score: sum * (matched / asked.length) ** 2 * (isExact ? 4 : isPhrase ? 1.5 : 1) };
  }

  // --- Results ----------------------------------------------------------------------------------------

  /** A text as [text, isMatch] pieces. */
  function marked(text, terms) {
    const out = [];
    let at = 0;
    for (const { term, start, end } of wordsOf(text)) {
      if (start < at || !terms.has(term)) continue;
      out.push([text.slice(at, start), false], [text.slice(start, end), true]);
      at = end;
    }
    return [...out, [text.slice(at), false]].filter(([piece]) => piece);
  }

  /** The part of a text with the most different matches. */
  function snippet(text, terms) {
    const found = wordsOf(text).filter(({ term }) => terms.has(term));
    let best = { count: 0, start: 0 };
    for (const { start } of found) {
      const count = new Set(found.filter((each) => each.start >= start && each.end <= start + SNIPPET).map(({ term }) => term)).size;
      if (count > best.count) best = { count, start };
    }
    const from = best.start < 50 ? 0 : text.indexOf(' ', best.start - 40) + 1;
    const to = from + SNIPPET >= text.length ? text.length : text.lastIndexOf(' ', from + SNIPPET);
    const pieces = marked(text.slice(from, to), terms);
    return [...(from > 0 ? [['… ', false]] : []), ...pieces, ...(to < text.length ? [[' …', false]] : [])];
  }

  /** The number of letters to insert, remove, replace or exchange between two words; more than 2 is enough. */
  function distance(a, b) {
    if (Math.abs(a.length - b.length) > 2) return 3;
    let before = [];
    let row = Array.from({ length: b.length + 1 }, (_, i) => i);
    for (let i = 1; i <= a.length; i += 1) {
      const next = [i];
      for (let j = 1; j <= b.length; j += 1) {
        next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) next[j] = Math.min(next[j], before[j - 2] + 1);
      }
      [before, row] = [row, next];
    }
    return row[b.length];
  }

  /** The question with the nearest known words instead of the unknown ones, or what many people look for. */
  function suggestions(index, asked) {
    const corrected = asked.map(({ word, meant }) => {
      if (meant.length > 0) return word;
      const near = [...index.spelled]
        .map(([term, known]) => ({ known, off: distance(word, known), count: index.counts.get(term) || 0 }))
        .filter(({ off }) => off <= (word.length > 5 ? 2 : 1))
        .sort((a, b) => a.off - b.off || b.count - a.count);
      return near[0]?.known;
    }).filter(Boolean).join(' ');
    const isBetter = corrected && corrected !== asked.map(({ word }) => word).join(' ');
    return isBetter ? [corrected] : POPULAR;
  }

  const isAddress = (text) => /(^|\s)\/|^(GET|POST|PUT|PATCH|DELETE)\b/.test(text);

  /** {groups: [{title, hits: [{heading, kind, href, text}]}], suggestions}: heading and text as [text, isMatch] pieces. */
  async function find(text) {
    loading ??= build();
    loading.catch(() => { loading = undefined; }); // the next search tries again
    const index = await loading;
    const asked = questions(index, text);
    const terms = new Set(asked.flatMap(({ meant }) => meant.flatMap((each) => each.terms)));
    const all = asked.length === 0 ? [] : index.entries.map((entry) => score(index, entry, asked, text)).filter((each) => each.score > 0);
    const groups = GROUPS.map((title, group) => {
      const own = all.filter(({ entry }) => entry.group === group).sort((a, b) => b.score - a.score);
      const hits = own.filter((each, i) => i < 3 || each.score > own[0].score / 5).slice(0, SHOWN[group]).map(({ entry }) => ({
        heading: marked(entry.heading, terms), kind: entry.kind, href: entry.href, text: snippet(entry.text, terms),
      }));
      return { title, hits, isExact: own[0]?.isExact };
    }).filter(({ hits }) => hits.length > 0);
    // Who types an address or a name of the API looks for just that.
    const isNamed = ({ title, isExact }) => (isAddress(text) ? title === GROUPS[1] : /\S[A-Z_.-]/.test(text) && isExact);
    groups.sort((a, b) => isNamed(b) - isNamed(a));
    const isWhole = all.some(({ matched }) => matched === asked.length);
    return { groups, suggestions: isWhole ? [] : suggestions(index, asked) };
  }

  return { find, slug };
})();
