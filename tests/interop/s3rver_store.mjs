// s3rver, a store with S3's interface that replaces objects although it is asked not to. Prints the port when it
// serves on 127.0.0.1, and ends with its standard input. Key and secret are S3RVER; there is a bucket `archive`.
//
//     node tests/interop/s3rver_store.mjs FOLDER
import S3rver from 's3rver';

const server = new S3rver({
  address: '127.0.0.1',
  port: 0,
  silent: true,
  directory: process.argv[2],
  configureBuckets: [{ name: 'archive' }],
});
const { port } = await server.run();
console.log(port);
process.stdin.on('end', () => process.exit(0)).resume();
