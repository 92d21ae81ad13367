// Draws a guide from its Markdown.
'use strict';

const guideName = location.pathname.split('/').pop();

async function start() {
  const place = document.getElementById('guide');
  const title = (cofferTexts.guides.find(([name]) => name === guideName) || [])[1] || 'Guide';
  document.title = `${title} · coffer`;
  document.getElementById('title').textContent = title;
  const response = await fetch(`/docs/guides/${guideName}.md`);
  if (!response.ok) {
    place.textContent = `The guide could not be read: status ${response.status}.`;
    return;
  }
  const blocks = cofferMarkdown(await response.text());
  // The page already shows the name of the guide as its heading.
  place.replaceChildren(...blocks.filter(({ tagName }) => tagName !== 'H1'));
  const wanted = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (wanted) wanted.scrollIntoView();
}

start();
