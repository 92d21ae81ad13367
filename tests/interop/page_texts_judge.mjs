// Finds texts for people in JavaScript sources: literals where the page shows them, and literals that read as prose
// anywhere else. Standard input: {name: source}; standard output: ["name:line: text"].
import { readFileSync } from 'node:fs';
import ts from 'typescript';

/** Calls whose arguments are shown: the numbers of the first and of the last of them. */
const ALL = Infinity;
const SHOWN = { h: [2, ALL], s: [2, ALL], empty: [0, ALL], heading: [0, ALL], folded: [0, ALL], dialog: [0, 0] };
Object.assign(SHOWN, { toast: [0, 0], announce: [0, 0], note: [0, 0], copyButton: [1, 2] });
/** Members and attributes that are shown. */
const SHOWN_KEYS =
  /^(aria-label|title|placeholder|alt|label|text|hint|caption|about|intro|summary|textContent|innerText|render|any|said)$/;
/** Members and arguments that are names of commands, styles, addresses and fields. */
const NAMES =
  /^(class|className|id|name|type|role|tag|href|key|command|count|needs|cursor|place|noun|card|fixed|values|preset|order|query|needs|autocomplete|dataset|style|driver|datetime|locale|cache|credentials|redirect|method|numberingSystem|month|weekday|timeZoneName|notation)$/;
const NAMING =
  /^(querySelector|querySelectorAll|closest|matches|getElementById|addEventListener|setAttribute|getAttribute|removeAttribute|toggleAttribute|add|remove|toggle|contains|get|getItem|setItem|removeItem|includes|startsWith|endsWith|split|join|replace|replaceAll|read|act|can|takes|call|signedCall|freshId|createElement|createElementNS|DateTimeFormat|NumberFormat|PluralRules|addData|normalize|waitFor|action|ask|verbs|manyVerbs|named|namedColumn|screen|follow|download|label|badge|has|delete)$/;

/** The name of the product is the same in every language. */
const hasLetters = (text) => /\p{L}/u.test(text.replace(/\bcoffer\b/, ''));
/** A sentence, a clause or a capitalised word; not `row end`, `payment list`, `X-Request-Id` or a selector. */
const isProse = (text) =>
  !/[[\]{}<>=#]/.test(text) &&
  (/^\p{Lu}\p{Ll}+(\s|[.?!…:]|$)/u.test(text) || /\p{L}{2,}[,.;:?!…]\s+\p{L}/u.test(text) || /^\s\p{L}{2,}\s/u.test(text));

const nameOf = (node) => (node ? (ts.isIdentifier(node) || ts.isStringLiteral(node) ? node.text : node.getText()) : '');
const calleeOf = (call) => {
  const callee = call.expression;
  return ts.isPropertyAccessExpression(callee) ? callee.name.text : callee.getText();
};

const PASSES = new Set([
  ts.SyntaxKind.ConditionalExpression,
  ts.SyntaxKind.ParenthesizedExpression,
  ts.SyntaxKind.ArrayLiteralExpression,
  ts.SyntaxKind.ObjectLiteralExpression,
  ts.SyntaxKind.TemplateExpression,
  ts.SyntaxKind.TemplateSpan,
  ts.SyntaxKind.ArrowFunction,
  ts.SyntaxKind.SpreadElement,
]);
const COMPARES = /^(===|!==|==|!=|in|instanceof|<|>)$/;

/** Where a literal stands: 'shown', 'name' or 'other'. */
function placeOf(literal) {
  let node = literal;
  for (let up = node.parent; up; node = up, up = up.parent) {
    if (ts.isImportDeclaration(up) || ts.isExportDeclaration(up) || ts.isCaseClause(up)) return 'name';
    if (ts.isElementAccessExpression(up) || ts.isExpressionStatement(up)) return 'name';
    if (ts.isBinaryExpression(up)) {
      const sign = up.operatorToken.getText();
      if (COMPARES.test(sign)) return 'name';
      if (sign === '=' && ts.isPropertyAccessExpression(up.left)) return SHOWN_KEYS.test(up.left.name.text) ? 'shown' : 'other';
      continue;
    }
    if (ts.isPropertyAssignment(up)) {
      if (up.name === node) return 'name';
      const key = nameOf(up.name);
      if (NAMES.test(key) || key.startsWith('data-')) return 'name';
      if (SHOWN_KEYS.test(key)) return 'shown';
      continue;
    }
    if (ts.isCallExpression(up) || ts.isNewExpression(up)) {
      const name = calleeOf(up);
      const at = (up.arguments || []).indexOf(node);
      if (at < 0) continue; // the object of a method call, such as ['a', 'b'].join()
      if (/^(code|kbd|pre)$/.test(nameOf((up.arguments || [])[0]))) return 'name'; // what a program reads
      if (name in SHOWN) return at >= SHOWN[name][0] && at <= SHOWN[name][1] ? 'shown' : 'name';
      if (NAMING.test(name)) return 'name';
      if (name === 'map' && ts.isArrowFunction(node)) continue;
      return 'other';
    }
    if (!PASSES.has(up.kind)) return 'other';
  }
  return 'other';
}

/** The fixed parts of a literal. What directly follows a value, such as `Id` after `${kind}`, is no word. */
function partsOf(node) {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return [node.text];
  if (!ts.isTemplateExpression(node)) return undefined;
  const rest = node.templateSpans.map(({ literal }) => literal.text.replace(/^\p{L}+/u, ''));
  return [node.head.text, ...rest];
}

function textsIn(name, source) {
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const found = [];
  const visit = (node) => {
    const parts = partsOf(node);
    if (parts) {
      const place = placeOf(node);
      const isText = place === 'shown' ? parts.some(hasLetters) : place === 'other' && parts.some(isProse);
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      if (isText) found.push(`${name}:${line + 1}: ${parts.join('…')}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

const sources = JSON.parse(readFileSync(0, 'utf8'));
process.stdout.write(JSON.stringify(Object.entries(sources).flatMap(([name, source]) => textsIn(name, source))));
