// Converts Markdown to elements: the part of CommonMark that the guides use. Text becomes text nodes.
'use strict';

/** Returns the blocks of a text. */
const cofferMarkdown = (() => {
  function node(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children.flat(Infinity));
    return element;
  }

  /** Links between guides lead to their pages on this server. Links to files of the repository become text. */
  function addressOf(target) {
    if (/^(https?:|#)/.test(target)) return target;
    const found = /^(?:docs\/)?([\w-]+)\.md(#.*)?$/.exec(target);
    const known = found && cofferTexts.guides.some(([name]) => name === found[1]);
    return known ? `/docs/guides/${found[1]}${found[2] || ''}` : null;
  }

  /** Code, links, strong and emphasised text. */
  function inline(text) {
    const out = [];
    const pattern = /`([^`]+)`|\[([^\]]+)\]\(([^)\s]+)\)|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|<(https?:[^>]+)>/g;
    let at = 0;
    for (const found of text.matchAll(pattern)) {
      out.push(text.slice(at, found.index));
      at = found.index + found[0].length;
      const [, code, label, target, strong, em, bare] = found;
      if (code) out.push(node('code', {}, code));
      else if (label) {
        const href = addressOf(target);
        out.push(href ? node('a', { href }, inline(label)) : node('span', {}, inline(label)));
      } else if (strong) out.push(node('strong', {}, inline(strong)));
      else if (em) out.push(node('em', {}, inline(em)));
      else out.push(node('a', { href: bare }, bare));
    }
    out.push(text.slice(at));
    return out;
  }

  const cells = (line) =>
    line
      .replace(/^\||\|\s*$/g, '')
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll('\\|', '|'));

  const ITEM = /^(\s*)([-*]|\d+\.) (.*)$/;

  /** Reads blocks from lines; each method consumes the lines of its block. */
  class Blocks {
    constructor(text) {
      this.lines = text.split('\n');
      this.at = 0;
    }

    get line() {
      return this.lines[this.at];
    }

    all() {
      const out = [];
      while (this.at < this.lines.length) {
        const block = this.next();
        if (block) out.push(block);
      }
      return out;
    }

    next() {
      const { line } = this;
      if (line.trim() === '' || /^<!--.*-->$/.test(line)) {
        this.at += 1;
        return null;
      }
      if (/^\s*```/.test(line)) return this.fence();
      const heading = /^(#{1,5}) (.+)$/.exec(line);
      if (heading) return this.heading(heading);
      if (line.startsWith('|')) return this.table();
      if (ITEM.test(line)) return this.list();
      if (line.startsWith('> ')) return this.quote();
      return this.paragraph();
    }

    fence() {
      const margin = /^\s*/.exec(this.line)[0].length;
      const body = [];
      for (this.at += 1; this.at < this.lines.length && !/^\s*```/.test(this.line); this.at += 1)
        body.push(this.line.slice(margin));
      this.at += 1;
      return node('pre', { tabindex: '0' }, node('code', {}, body.join('\n')));
    }

    heading([, marks, text]) {
      this.at += 1;
      const id = cofferSearch.slug(text);
      return node(`h${marks.length}`, { id }, node('a', { href: `#${id}` }, inline(text)));
    }

    table() {
      const rows = [];
      for (; this.at < this.lines.length && this.line.startsWith('|'); this.at += 1) rows.push(cells(this.line));
      const [head, , ...body] = rows;
      return node(
        'table',
        { tabindex: '0' },
        node('thead', {}, node('tr', {}, head.map((each) => (each ? node('th', { scope: 'col' }, inline(each)) : node('td', {}))))),
        node('tbody', {}, body.map((row) => node('tr', {}, row.map((each) => node('td', {}, inline(each)))))),
      );
    }

    list() {
      const [, margin, mark] = ITEM.exec(this.line);
      const items = [];
      while (this.at < this.lines.length) {
        const found = ITEM.exec(this.line);
        if (!found || found[1].length < margin.length) break;
        if (found[1].length > margin.length) {
          items[items.length - 1].append(this.list());
          continue;
        }
        this.at += 1;
        const text = [found[3], ...this.continued()].join(' ');
        items.push(node('li', {}, inline(text)));
        while (this.at < this.lines.length && /^\s+```/.test(this.line)) items[items.length - 1].append(this.fence());
      }
      return node(/\d/.test(mark) ? 'ol' : 'ul', {}, items);
    }

    /** The continuation lines of a paragraph or list item. */
    continued() {
      const out = [];
      while (
        this.at < this.lines.length &&
        this.line.trim() !== '' &&
        !ITEM.test(this.line) &&
        !/^(\s*```|\||#{1,5} |> )/.test(this.line)
      ) {
        out.push(this.line.trim());
        this.at += 1;
      }
      return out;
    }

    quote() {
      const out = [];
      for (; this.at < this.lines.length && this.line.startsWith('>'); this.at += 1)
        out.push(this.line.replace(/^> ?/, ''));
      return node('blockquote', {}, node('p', {}, inline(out.join(' '))));
    }

    paragraph() {
      const first = this.line;
      this.at += 1;
      return node('p', {}, inline([first, ...this.continued()].join(' ')));
    }
  }

  return (text) => new Blocks(text).all();
})();
