// Samples of a call: with curl, and with each client of clients/. The names follow the rules of clients/generator.
'use strict';

const cofferSamples = (() => {
  const double = (text) => JSON.stringify(text);
  const single = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const php = (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

  // --- Names, as in clients/generator -----------------------------------------------------------------

  const KEYWORDS = new Set(('and as assert async await break class continue def del elif else except finally for from global if import '
    + 'in is lambda nonlocal not or pass raise return try while with yield').split(' '));
  const INITIALISMS = new Set(['api', 'csv', 'id', 'iso', 'otp', 'uri', 'url']);
  const RENAMED = { Problem: 'ProblemDetails' };

  const pascal = (name) => name[0].toUpperCase() + name.slice(1);
  /** The words of a name on the wire: `notifyWhatsApp` -> notify, whats, app. */
  const words = (name) => name.match(/[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+/g).map((word) => word.toLowerCase());

  function snake(name) {
    const joined = words(name.replace('OAuth', 'Oauth')).join('_');
    return KEYWORDS.has(joined) ? `${joined}_` : joined;
  }

  /** `transactionId` -> TransactionID. */
  const exported = (name) =>
    words(name).map((word) => (INITIALISMS.has(word) ? word.toUpperCase() : pascal(word))).join('');

  // --- Types ------------------------------------------------------------------------------------------

  /**
   * A value with its type: `kind` is struct (with `name` and `members`, each with its `key`, and the name of its `union`), list (with `values` and
   * the type `item`), or one of string, integer, boolean, decimal, date and json (with `value`).
   */
  function typed(schema, value, context) {
    const name = schema.$ref && (RENAMED[refName(schema)] || refName(schema));
    const target = resolve(schema);
    if (name && target.oneOf) return { ...variant(target.oneOf, value), union: name };
    const choices = alternatives(target)?.filter((each) => ['$ref', 'type', 'enum', 'const'].some((key) => key in each));
    if (choices?.length > 1) return { kind: 'string', value, type: name || context };
    if (choices) return { ...typed(choices[0], value, context), nullable: (target.anyOf || target.oneOf).some(({ type }) => type === 'null') };
    const types = [target.type].flat();
    const nullable = types.includes('null');
    if (target.properties) return { kind: 'struct', name: name || context, nullable, members: members(target, value, name || context) };
    if (types.includes('array')) {
      const item = (each) => typed(target.items, each, context.replace(/s$/, ''));
      return { kind: 'list', nullable, item: item(undefined), values: (value || []).map(item) };
    }
    if (types.includes('object')) return { kind: 'json', nullable, value };
    if (types.includes('number') || /^\^-?\??\[0-9\]\+\(/.test(target.pattern || ''))
      return { kind: 'decimal', nullable, value: value === undefined ? value : String(value) };
    const kind = target.format === 'date' ? 'date' : types.find((each) => each !== 'null') || typeof target.const;
    return { kind, nullable, value, type: target.enum && name, const: 'const' in target };
  }

  /** The member of a union that the discriminator of the value selects. */
  function variant(choices, value) {
    const tagged = choices.find((each) => {
      const { type } = resolve(each).properties || {};
      return type && (resolve(type).enum || [resolve(type).const]).includes(value?.type);
    });
    return typed(tagged || choices[0], value, '');
  }

  function members(target, value, context) {
    const required = new Set(target.required);
    return Object.entries(value || {})
      .filter(([name, each]) => target.properties[name] && each !== null)
      .map(([key, each]) => ({ key, required: required.has(key), ...typed(target.properties[key], each, context + pascal(key)) }));
  }

  // --- Literals ---------------------------------------------------------------------------------------

  /** Text with one entry per line; without entries, on one line. */
  const block = (open, entries, close, step) =>
    entries.length === 0 ? open + close : `${open}\n${entries.map((each) => `${step}${each.replaceAll('\n', `\n${step}`)},\n`).join('')}${close}`;

  const fields = (node) => node.members.filter((each) => !each.const);

  function pythonValue(value) {
    if (Array.isArray(value)) return `[${value.map(pythonValue).join(', ')}]`;
    if (value !== null && typeof value === 'object')
      return `{${Object.entries(value).map(([name, each]) => `${double(name)}: ${pythonValue(each)}`).join(', ')}}`;
    return typeof value === 'boolean' ? pascal(String(value)) : value === null ? 'None' : double(value);
  }

  function pythonText(node) {
    if (node.kind === 'struct')
      return block(`types.${node.name}(`, fields(node).map((each) => `${snake(each.key)}=${pythonText(each)}`), ')', '    ');
    if (node.kind === 'list') return block('[', node.values.map(pythonText), ']', '    ');
    if (node.kind === 'date') return `datetime.date.fromisoformat(${double(node.value)})`;
    return pythonValue(node.value);
  }

  function scriptText(node) {
    if (node.kind === 'struct') return block('{', node.members.map((each) => `${each.key}: ${scriptText(each)}`), '}', '  ');
    if (node.kind === 'list') return block('[', node.values.map(scriptText), ']', '  ');
    return double(node.value);
  }

  function phpValue(value) {
    if (value === null || typeof value !== 'object') return typeof value === 'string' ? php(value) : String(value);
    const entries = Object.entries(value).map(([name, each]) => (Array.isArray(value) ? '' : `${php(name)} => `) + phpValue(each));
    return `[${entries.join(', ')}]`;
  }

  function phpText(node) {
    if (node.kind === 'struct') return block(`new ${node.name}(`, fields(node).map((each) => `${each.key}: ${phpText(each)}`), ')', '    ');
    if (node.kind === 'list') return block('[', node.values.map(phpText), ']', '    ');
    return phpValue(node.value);
  }

  const goName = (name) => `coffer.${exported(name)}`;

  function goType(node) {
    if (node.kind === 'struct') return goName(node.union || node.name);
    return node.type ? goName(node.type) : { integer: 'int64', boolean: 'bool', decimal: 'coffer.Decimal' }[node.kind] || 'string';
  }

  function goValue(value) {
    if (value === null || typeof value !== 'object') return value === null ? 'nil' : double(value);
    if (Array.isArray(value)) return `[]any{${value.map(goValue).join(', ')}}`;
    return `map[string]any{${Object.entries(value).map(([name, each]) => `${double(name)}: ${goValue(each)}`).join(', ')}}`;
  }

  /** gofmt aligns the values of consecutive fields that are on one line. */
  function goFields(node, patch) {
    const list = fields(node).map((each) => [`${exported(each.key)}:`, goMember(each, patch)]);
    let start = 0;
    list.forEach(([, text], i) => {
      if (text.includes('\n')) start = i + 1;
      const run = list.slice(start, i + 1);
      const width = Math.max(...run.map(([name]) => name.trimEnd().length));
      for (const each of run) each[0] = each[0].trimEnd().padEnd(width);
    });
    return list.map(([name, text]) => `${name} ${text}`);
  }

  function goText(node, patch, type = goType(node)) {
    if (node.union) return goText({ ...node, union: undefined }, patch, `${goName(node.union)}{${exported(node.name.replace(node.union, ''))}: &${goName(node.name)}`) + '}';
    if (node.kind === 'struct') return block(`${type}{`, goFields(node, patch), '}', '\t');
    // The type of an element is that of its list.
    if (node.kind === 'list') return block(`[]${goType(node.item)}{`, node.values.map((each) => goText(each, false, '')), '}', '\t');
    return node.kind === 'json' ? goValue(node.value) : double(node.value);
  }

  /** A member: optional ones are pointers where the zero value has another meaning. */
  function goMember(node, patch) {
    const text = goText(node, patch);
    const exact = node.type ? `${goName(node.type)}(${text})` : text;
    if (patch && node.nullable) return `coffer.Set(${exact})`;
    if (node.kind === 'list' || node.kind === 'json') return text;
    if (node.kind === 'struct') return node.required && !patch ? text : `&${text}`;
    return patch || (node.kind === 'integer' && !node.required) ? `coffer.Ptr${node.kind === 'integer' ? '[int64]' : ''}(${exact})` : text;
  }

  // --- Programs ---------------------------------------------------------------------------------------

  function curl({ method, url, headers, body }) {
    const parts = [`curl -s ${single(url)}`];
    if (method !== (body === undefined ? 'GET' : 'POST')) parts[0] += ` -X ${method}`;
    for (const [name, value] of headers) parts.push(`-H "${name}: ${value}"`);
    if (body !== undefined) {
      parts.push("-H 'Content-Type: application/json'");
      parts.push(`-d ${single(JSON.stringify(body, null, 2))}`);
    }
    return parts.join(' \\\n  ');
  }

  const CREDENTIALS = {
    public: [],
    token: [['clientId', 'CLIENT_ID'], ['clientSecret', 'CLIENT_SECRET'], ['apiKey', 'KEY']],
    connect: [['publicKey', 'PUBLIC_KEY'], ['signInSecret', 'SIGN_IN_SECRET'], ['connectSecret', 'CONNECT_SECRET']],
  };

  /** What a client needs to know of a call: its arguments with their types, and its result. */
  function callWith({ method, operation, values, body }) {
    const parameters = operation.parameters || [];
    if (operation.tags.includes('Providers')) return null; // called by providers, which sign it with their own key
    const wanted = (each) => ({ key: each.name, required: true, ...typed(each.schema, argument(each, values), pascal(each.name)) });
    const content = Object.values(operation.requestBody?.content || {})[0];
    const given = body === undefined && content ? resolve(content.schema).examples?.[0] : body;
    const [type, result] = Object.entries(operation.responses)
      .filter(([status, response]) => status !== '304' && !response.$ref)
      .flatMap(([, response]) => Object.entries(response.content || {})).at(-1) || [];
    const schemes = Object.keys(operation.security?.[0] || {});
    const has = (name) => parameters.some((each) => each.name === name);
    return {
      id: operation.operationId,
      credentials: CREDENTIALS[schemes.includes('connectSecret') ? 'connect' : schemes.length > 0 ? 'token' : 'public'],
      path: parameters.filter((each) => each.in === 'path').map(wanted),
      hasQuery: parameters.some((each) => each.in === 'query'),
      query: parameters.filter((each) => each.in === 'query' && each.required).map(wanted),
      body: content && (given !== undefined || operation.requestBody.required) ? typed(content.schema, given || {}, '') : undefined,
      hasBody: Boolean(content),
      isOptional: content && !operation.requestBody.required,
      isPatch: method === 'PATCH',
      isList: Boolean(result && type === 'application/json' && resolve(result.schema).properties?.nextCursor && has('cursor')),
      isVoid: !result,
    };
  }

  /** An enum has to have one of its values; anything else a name of what belongs there. */
  const argument = ({ name, schema }, values) => resolve(schema).enum?.[0] ?? resolve(schema).minimum ?? values(name);

  function typescript(url, call) {
    const options = call.credentials.map(([name, key]) => `${name}: process.env.${key}!`);
    const given = call.path.map(scriptText);
    if (call.body) given.push(scriptText(call.body));
    if (call.query.length > 0) given.push(scriptText({ kind: 'struct', members: call.query }));
    const run = `client.${call.id}(${given.join(', ')})`;
    return [
      'import { Client } from "coffer-client";',
      '',
      `const client = new Client(${block('{', [`baseUrl: ${double(url)}`, ...options], '}', '  ')});`,
      call.isList ? `for await (const row of ${run}) console.log(row);` : call.isVoid ? `await ${run};` : `console.log(await ${run});`,
    ].join('\n');
  }

  function python(url, call) {
    const options = call.credentials.map(([name, key]) => `${snake(name)}=os.environ[${double(key)}]`);
    const given = [...call.path, ...(call.body ? [call.body] : [])].map(pythonText);
    given.push(...call.query.map((each) => `${snake(each.key)}=${pythonText(each)}`));
    const run = `client.${snake(call.id)}(${given.join(', ')})`;
    const imports = ['datetime', 'os'].filter((each) => [...options, run].some((text) => text.includes(`${each}.`)));
    return [
      ...(imports.length > 0 ? [`import ${imports.join(', ')}`, ''] : []),
      `from coffer import Client${call.body ? ', types' : ''}`,
      '',
      options.length > 0 ? block('client = Client(', [double(url), ...options], ')', '    ') : `client = Client(${double(url)})`,
      ...(call.isList ? [`for row in ${run}:`, '    print(row)'] : [call.isVoid ? run : `print(${run})`]),
    ].join('\n');
  }

  function go(url, call) {
    const options = [['BaseURL:', double(url)], ...call.credentials.map(([name, key]) => [`${exported(name)}:`, key])];
    const width = Math.max(...options.map(([name]) => name.length));
    const config = options.map(([name, key], i) => {
      const value = i === 0 ? key : `os.Getenv(${double(key)})`;
      return `${name.padEnd(width)} ${/Secret|APIKey/.test(name) ? `coffer.Secret(${value})` : value}`;
    });
    const given = call.path.map((each) => goText(each));
    if (call.hasBody) given.push(call.body ? (call.isOptional ? '&' : '') + goText(call.body, call.isPatch) : 'nil');
    if (call.hasQuery) given.push(block(`${goName(call.id)}Params{`, goFields({ members: call.query }), '}', '\t'));
    const checked = ['if err != nil {', '\tlog.Fatal(err)', '}'];
    const single = `client.${exported(call.id)}(${['ctx', ...given].join(', ')})`;
    const body = call.isList
      ? [`rows := client.${exported(call.id)}(${given.join(', ')})`, 'for rows.Next(ctx) {', '\tfmt.Printf("%+v\\n", rows.Value())', '}',
        'if err := rows.Err(); err != nil {', ...checked.slice(1)]
      : call.isVoid
        ? [`if err := ${single}; err != nil {`, ...checked.slice(1)]
        : [`result, err := ${single}`, ...checked, 'fmt.Printf("%+v\\n", result)'];
    const lines = ['ctx := context.Background()', block('client, err := coffer.New(coffer.Config{', config, '})', '\t'), ...checked, ...body];
    const uses = ['context', ...(call.isVoid ? [] : ['fmt']), 'log', ...(options.length > 1 ? ['os'] : [])];
    return [
      'package main', '', 'import (', ...uses.map((each) => `\t${double(each)}`), '', '\t"coffer.example/go/coffer"', ')', '',
      'func main() {', ...lines.map((each) => `\t${each.replaceAll('\n', '\n\t')}`), '}',
    ].join('\n');
  }

  function phpCode(url, call) {
    const options = call.credentials.map(([name, key]) => `${name}: getenv(${php(key)})`);
    const given = [...call.path, ...(call.body ? [call.body] : [])].map(phpText);
    given.push(...call.query.map((each) => `${each.key}: ${phpText(each)}`));
    const run = `$client->${call.id}(${given.join(', ')})`;
    const uses = new Set(['Client', 'Config', ...[...run.matchAll(/new ([A-Z]\w+)\(/g)].map(([, name]) => name)]);
    return [
      '<?php',
      "require 'vendor/autoload.php';",
      '',
      `use Coffer\\{${[...uses].join(', ')}};`,
      '',
      options.length > 0 ? block('$client = new Client(new Config(', [php(url), ...options], '));', '    ') : `$client = new Client(new Config(${php(url)}));`,
      ...(call.isList ? [`foreach (${run} as $row) {`, '    print_r($row);', '}'] : [call.isVoid ? `${run};` : `print_r(${run});`]),
    ].join('\n');
  }

  /** The sample of a client; of an operation that clients do not have, the call with curl. */
  const client = (write) => (made) => {
    const call = callWith(made);
    return call ? write(made.origin, call) : curl(made);
  };

  return { curl, TypeScript: client(typescript), Python: client(python), Go: client(go), PHP: client(phpCode) };
})();
