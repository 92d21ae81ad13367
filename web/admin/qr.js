// QR codes for authenticator apps. Their library is large and rarely needed, so it is loaded with the first code.
import { h, s } from './dom.js';
import { S } from './strings.js';

const QUIET = 4; // modules of margin that scanners need

/** A picture of the text, which appears as soon as the library has arrived. */
export function qrCode(text) {
  const place = h('span', {});
  import('./qrcode.js').then(({ qrcode }) => place.replaceWith(picture(qrcode, text)));
  return place;
}

/** Dark on light in both themes, because scanners expect it. */
function picture(qrcode, text) {
  const code = qrcode(0, 'M');
  code.addData(text, 'Byte');
  code.make();
  const size = code.getModuleCount();
  let path = '';
  for (let row = 0; row < size; row += 1) {
    for (let column = 0; column < size; column += 1) {
      if (code.isDark(row, column)) path += `M${column + QUIET} ${row + QUIET}h1v1h-1z`;
    }
  }
  const side = size + 2 * QUIET;
  return s(
    'svg',
    {
      class: 'qr',
      viewBox: `0 0 ${side} ${side}`,
      role: 'img',
      'aria-label': S.authenticator.picture,
      'shape-rendering': 'crispEdges',
    },
    s('rect', { width: side, height: side, fill: '#fff' }),
    s('path', { d: path, fill: '#000' }),
  );
}
