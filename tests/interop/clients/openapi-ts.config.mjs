// How hey-api makes its client here: as it comes, with the fetch of the platform.
export default {
  input: './openapi.json',
  output: { path: './programs/hey', importFileExtension: '.js' },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
};
