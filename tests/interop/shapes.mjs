// Checks values against an OpenAPI document with ajv. Reads {document, cases: [{schema, value}]} from standard input; a
// schema is inline or the name of a component. Prints the fault of each case, or null, as a JSON array.
import { json } from 'node:stream/consumers';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

const { document, cases } = await json(process.stdin);
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats(ajv);
ajv.addSchema({ $id: 'doc', components: document.components });

const faultOf = ({ schema, value }) => {
  const whole = typeof schema === 'string' ? { $ref: `#/components/schemas/${schema}` } : schema;
  const validate = ajv.compile(JSON.parse(JSON.stringify(whole).replaceAll('"#/components', '"doc#/components')));
  return validate(value) ? null : ajv.errorsText(validate.errors);
};
console.log(JSON.stringify(cases.map(faultOf)));
