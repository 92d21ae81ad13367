// Configuration of hey-api: defaults, with the platform's fetch.
export default {
  input: './openapi.json',
  output: { path: './programs/hey', importFileExtension: '.js' },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
};
