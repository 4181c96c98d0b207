/** AVA's settings for the shards that `npm test` writes; package.json has the settings for single modules. */
export default {
  files: ['build/*/*.test.ts'],
  extensions: ['ts'],
  // V8 of Node 24 sometimes ends a process while it frees WebAssembly code, see nodejs/node#64500
  nodeArguments: ['--no-wasm-code-gc', '--import=./daemon/packaging/own-modules.js'],
  require: ['./test/support/worker-end.ts'],
  workerThreads: false,
  timeout: '15m',
}
