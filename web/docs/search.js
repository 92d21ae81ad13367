// The search in guides (by section), problems and the glossary.
'use strict';

const cofferSearch = (() => {
  const HITS_MAX = 12;
  let sections; // of all guides; loaded at the first search

  /** The anchor of a heading; guide.js uses it too. */
  const slug = (heading) =>
    heading.toLowerCase().replace(/`/g, '').replace(/[^\p{L}\p{N} _-]/gu, '').trim().replaceAll(' ', '-');

  /** {kind, heading, href, text} of each section of a guide. */
  function split(name, title, text) {
    const out = [];
    let present = { heading: title, href: `/docs/guides/${name}`, lines: [] };
    let fenced = false;
    for (const line of text.split('\n')) {
      if (line.startsWith('```')) fenced = !fenced;
      const found = fenced ? null : /^#{1,4} (.+)$/.exec(line);
      if (found) {
        out.push(present);
        present = { heading: found[1].replaceAll('`', ''), href: `/docs/guides/${name}#${slug(found[1])}`, lines: [] };
      } else {
        present.lines.push(line);
      }
    }
    out.push(present);
    return out.map(({ heading, href, lines }) => ({ kind: title, heading, href, text: lines.join(' ') }));
  }

  async function guides() {
    sections ??= Promise.all(
      cofferTexts.guides.map(async ([name, title]) => {
        const response = await fetch(`/docs/guides/${name}.md`);
        return response.ok ? split(name, title, await response.text()) : [];
      }),
    ).then((all) => all.flat());
    return sections;
  }

  const entries = (openapi) => [
    ...cofferTexts.glossary.map(([word, text]) => ({
      kind: 'Glossary',
      heading: word,
      href: '#glossary',
      text,
    })),
    ...problems(openapi),
  ];

  /** All problems that the responses mention. */
  function problems(openapi) {
    const names = new Set();
    for (const { description } of Object.values(openapi.components.responses || {})) {
      for (const [, name] of description.matchAll(/`([a-z0-9-]+)`/g)) names.add(name);
    }
    return [...names].map((name) => ({
      kind: 'Problem',
      heading: name,
      href: `/problems/${name}`,
      text: name.replaceAll('-', ' '),
    }));
  }

  function rank(entry, words) {
    const heading = entry.heading.toLowerCase();
    const text = entry.text.toLowerCase();
    if (!words.every((word) => heading.includes(word) || text.includes(word))) return 0;
    return words.every((word) => heading.includes(word)) ? 3 : entry.kind === 'Glossary' ? 2 : 1;
  }

  /** The best matches for these words. */
  async function find(openapi, words) {
    const all = [...entries(openapi), ...(await guides())];
    return all
      .map((entry) => ({ entry, score: rank(entry, words) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, HITS_MAX)
      .map(({ entry }) => entry);
  }

  return { find, slug };
})();
