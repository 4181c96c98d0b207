/** AVA's settings for the shards that `npm test` writes; package.json has the settings for single modules. */
export default {
  files: ['build/*/*.test.ts'],
  extensions: ['ts'],
  nodeArguments: ['--import=./daemon/packaging/own-modules.js'],
  require: ['./test/support/worker-end.ts'],
  workerThreads: false,
  timeout: '15m',
}
