// Samples of a call in several languages, each using only the standard library.
'use strict';

const cofferSamples = (() => {
  const single = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const double = (text) => JSON.stringify(text);
  const php = (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const indent = (text, by) => text.replaceAll('\n', `\n${by}`);

  /** Splits a header value such as `Bearer $TOKEN` into its prefix and its environment variable. */
  const variable = (value) => /^(.*)\$(\w+)$/.exec(value);

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

  function node({ method, url, headers, body }) {
    const rows = headers.map(([name, value]) => {
      const [, before, key] = variable(value);
      return `    ${double(name)}: ${before ? `\`${before}\${process.env.${key}}\`` : `process.env.${key}`},`;
    });
    if (body !== undefined) rows.push('    "Content-Type": "application/json",');
    return [
      `const response = await fetch(${double(url)}, {`,
      `  method: ${double(method)},`,
      ...(rows.length > 0 ? ['  headers: {', ...rows, '  },'] : []),
      ...(body === undefined ? [] : [`  body: JSON.stringify(${indent(JSON.stringify(body, null, 2), '  ')}),`]),
      '});',
      'console.log(response.status, await response.text());',
    ].join('\n');
  }

  function python({ method, url, headers, body }) {
    const rows = headers.map(([name, value]) => {
      const [, before, key] = variable(value);
      return `        ${double(name)}: ${before ? `${double(before)} + ` : ''}os.environ[${double(key)}],`;
    });
    if (body !== undefined) rows.push('        "Content-Type": "application/json",');
    const literal = JSON.stringify(body, null, 4);
    return [
      'import json, os, urllib.error, urllib.request',
      '',
      'request = urllib.request.Request(',
      `    ${double(url)},`,
      `    method=${double(method)},`,
      ...(rows.length > 0 ? ['    headers={', ...rows, '    },'] : []),
      ...(body === undefined ? [] : [`    data=json.dumps(json.loads('''${indent(literal, '    ')}''')).encode(),`]),
      ')',
      'try:',
      '    response = urllib.request.urlopen(request)',
      'except urllib.error.HTTPError as problem:  # its body says what is wrong',
      '    response = problem',
      'print(response.status, response.read().decode())',
    ].join('\n');
  }

  function go({ method, url, headers, body }) {
    const rows = headers.map(([name, value]) => {
      const [, before, key] = variable(value);
      return `\trequest.Header.Set(${double(name)}, ${before ? `${double(before)}+` : ''}os.Getenv(${double(key)}))`;
    });
    if (body !== undefined) rows.push('\trequest.Header.Set("Content-Type", "application/json")');
    const from = body === undefined ? 'nil' : `strings.NewReader(\`${JSON.stringify(body, null, 2)}\`)`;
    const uses = ['fmt', 'io', 'net/http', ...(headers.length > 0 ? ['os'] : [])];
    if (body !== undefined) uses.push('strings');
    return [
      'package main',
      '',
      'import (',
      ...uses.map((each) => `\t${double(each)}`),
      ')',
      '',
      'func main() {',
      `\trequest, err := http.NewRequest(${double(method)}, ${double(url)}, ${from})`,
      '\tif err != nil {',
      '\t\tpanic(err)',
      '\t}',
      ...rows,
      '\tresponse, err := http.DefaultClient.Do(request)',
      '\tif err != nil {',
      '\t\tpanic(err)',
      '\t}',
      '\tdefer response.Body.Close()',
      '\ttext, _ := io.ReadAll(response.Body)',
      '\tfmt.Println(response.StatusCode, string(text))',
      '}',
    ].join('\n');
  }

  function phpCode({ method, url, headers, body }) {
    const rows = headers.map(([name, value]) => {
      const [, before, key] = variable(value);
      return `        ${php(`${name}: ${before}`)} . getenv(${php(key)}),`;
    });
    if (body !== undefined) rows.push("        'Content-Type: application/json',");
    return [
      '<?php',
      `$curl = curl_init(${php(url)});`,
      'curl_setopt_array($curl, [',
      `    CURLOPT_CUSTOMREQUEST => ${php(method)},`,
      '    CURLOPT_RETURNTRANSFER => true,',
      ...(rows.length > 0 ? ['    CURLOPT_HTTPHEADER => [', ...rows, '    ],'] : []),
      ...(body === undefined
        ? []
        : [`    CURLOPT_POSTFIELDS => ${php(JSON.stringify(body, null, 4))},`]),
      ']);',
      'echo curl_exec($curl), PHP_EOL;',
    ].join('\n');
  }

  return { curl, 'Node.js': node, Python: python, Go: go, PHP: phpCode };
})();
