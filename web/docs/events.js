// The events that webhooks receive, from `webhooks` in the OpenAPI document. Sections of the webhook guide explain
// verification and retries.
'use strict';

const cofferEvents = (() => {
  const GUIDE = '/docs/guides/webhooks';

  /** The blocks with one of these tags in a section of the guide, without its subsections. */
  function sectionOf(text, heading, tags) {
    const [, after] = text.split(`\n## ${heading}\n`);
    return cofferMarkdown(after.split(/\n#{2,3} /)[0]).filter(({ tagName }) => tags.includes(tagName));
  }

  /** A section of the guide, loaded when it is opened. */
  function guideSection(title, heading, tags) {
    const body = h('div');
    const link = `${GUIDE}#${cofferSearch.slug(heading)}`;
    const open = async ({ target }) => {
      if (!target.open || body.hasChildNodes()) return;
      body.append(h('p', {}, h('a', { href: link }, 'In the guide, with code'), '.'));
      const response = await fetch(`${GUIDE}.md`);
      if (response.ok) body.append(...sectionOf(await response.text(), heading, tags));
    };
    return h('details', { class: 'schema', ontoggle: open }, h('summary', {}, title), body);
  }

  /** The headers of a delivery, which are the same for all events. */
  function headers(operation) {
    const rows = operation.parameters.map(resolve).map(({ name, description, schema, example }) =>
      member(name, { ...schema, description, examples: [example] }, true));
    return h('details', { class: 'schema' }, h('summary', {}, 'Headers of a delivery'), h('ul', { class: 'fields' }, rows));
  }

  function responses(operation) {
    const rows = Object.entries(operation.responses).map(([status, { description }]) =>
      h('li', {}, h('span', { class: 'name' }, status), ' ', description));
    return h('details', { class: 'schema' }, h('summary', {}, 'Your response'), h('ul', { class: 'responses' }, rows));
  }

  function article(type, operation) {
    const { schema, example } = operation.requestBody.content['application/json'];
    return h('article', { id: `event-${type}` },
      h('h3', {}, h('a', { href: `#event-${type}` }, h('span', { class: 'path' }, type))),
      h('p', {}, operation.summary),
      h('h4', {}, 'Body'),
      shape('application/json', schema.allOf[0]),
      reply(example, 'Example body'));
  }

  /** Returns {section, group}, as for a tag of operations. */
  function draw(narrow) {
    const all = Object.entries(openapi.webhooks).map(([type, { post }]) => ({ type, operation: post }));
    const links = all.map(({ type }) => h('li', {}, h('a', { href: `#event-${type}` }, type)));
    const group = h('details', { open: !narrow }, h('summary', {}, 'Webhook events'), h('ul', {}, links));
    const [{ operation: first }] = all;
    const section = h('section', {}, h('h2', { id: 'events' }, 'Webhook events'),
      h('p', { class: 'soft' }, 'coffer sends each event as a POST request to the webhook that is registered for its type, ',
        'signed as in ', h('a', { href: `${GUIDE}#verify` }, 'Standard Webhooks'), '.'),
      headers(first),
      guideSection('Verify the signature', 'Verify', ['OL']),
      responses(first),
      guideSection('Attempts and retries', 'Failed deliveries', ['P', 'TABLE']),
      all.map(({ type, operation }) => article(type, operation)));
    return { section, group };
  }

  return { draw };
})();
