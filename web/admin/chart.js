// A small SVG column chart of counts by kind over time. A table below it has the same numbers.
import { freshId, h, s } from './dom.js';
import { S } from './strings.js';
import { table } from './table.js';

const WIDTH = 420;
const HEIGHT = 130;
const ABOVE = 10; // space for the topmost label
const BELOW = 22; // space for the time labels
const BESIDE = 38; // space for the value labels

/** Rounds up to 2, 3, 4, 6, 8, 10, 15, 20, ... The axis also shows half of this value. */
function roundUp(value) {
  if (value <= 2) return 2;
  if (value <= 4) return 4;
  const size = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 3, 4, 6, 8, 10].map((step) => step * size).find((step) => step >= value);
}

const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });

function gridLine(value, top) {
  const y = HEIGHT - (value / top) * HEIGHT;
  return [
    s('line', { class: 'grid', x1: BESIDE, x2: WIDTH, y1: y, y2: y }),
    s('text', { class: 'axis', x: BESIDE - 6, y: y + 4, 'text-anchor': 'end' }, compact.format(value)),
  ];
}

function column(bucket, series, x, width, top) {
  let y = HEIGHT;
  const parts = series.map(({ key, tone }) => {
    const height = (Number(bucket[key] || 0) / top) * HEIGHT;
    if (height <= 0) return null;
    y -= height;
    return s('rect', { class: `bar ${tone}`, x, y, width, height: Math.max(height, 1) });
  });
  const said = series.map(({ key, name }) => `${name} ${bucket[key] || 0}`).join(', ');
  return s(
    'g',
    {},
    s('title', {}, `${bucket.label}: ${said}`),
    s('rect', { class: 'touch', x, y: 0, width, height: HEIGHT }),
    parts,
  );
}

/** Draws a chart. Its heights are floating point, so they must never be used as amounts. */
export function chart({ title, buckets, series, summary }) {
  const heights = buckets.map((bucket) =>
    series.reduce((sum, { key }) => sum + Number(bucket[key] || 0), 0),
  );
  const top = roundUp(Math.max(0, ...heights));
  const step = (WIDTH - BESIDE) / Math.max(1, buckets.length);
  const width = Math.max(1, step - Math.min(4, step / 4));
  const every = Math.max(1, Math.ceil(buckets.length / 5));
  // The same day is written once.
  let told;
  const isNew = (tick) => tick !== told && ((told = tick), true);
  const heading = freshId('chart');
  const picture = s(
    'svg',
    {
      class: 'chart',
      viewBox: `0 ${-ABOVE} ${WIDTH} ${HEIGHT + ABOVE + BELOW}`,
      role: 'img',
      'aria-label': `${title}. ${summary}`,
    },
    [0, 0.5, 1].map((part) => gridLine(top * part, top)),
    buckets.map((bucket, i) => column(bucket, series, BESIDE + i * step + (step - width) / 2, width, top)),
    buckets.map(
      (bucket, i) =>
        i % every === 0 &&
        isNew(bucket.tick) &&
        s(
          'text',
          {
            class: 'axis',
            x: i === buckets.length - 1 ? WIDTH : BESIDE + i * step + step / 2,
            y: HEIGHT + 16,
            'text-anchor': i === 0 ? 'start' : i === buckets.length - 1 ? 'end' : 'middle',
          },
          bucket.tick,
        ),
    ),
  );
  return h(
    'figure',
    { 'aria-labelledby': heading },
    h(
      'figcaption',
      { id: heading },
      h('strong', {}, title),
      h(
        'span',
        { class: 'legend' },
        series.length > 1 &&
          series.map(({ name, tone }) => h('span', {}, h('span', { class: `key ${tone}` }), name)),
      ),
    ),
    picture,
    h(
      'details',
      {},
      h('summary', {}, S.overview.charts.asTable),
      table({
        caption: title,
        rows: buckets,
        columns: [
          { key: 'label', label: S.overview.charts.from },
          ...series.map(({ key, name }) => ({
            key,
            label: name,
            numeric: true,
            render: (row) => String(row[key] || 0),
          })),
        ],
      }),
    ),
  );
}
