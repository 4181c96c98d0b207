// @ts-check
/**
 * What the single binary runs first, in the process and in each of its threads: modules are found within the binary, under the path of
 * the binary as if that were a folder. A script and no module, because Node embeds it so; its text is also the beginning of every thread.
 */
'use strict'
const { getAsset } = require('node:sea')
const { registerHooks, syncBuiltinESMExports } = require('node:module')
const { pathToFileURL } = require('node:url')
const threads = require('node:worker_threads')

const root = `${pathToFileURL(process.execPath).href}/`
const text = getAsset('daemon/packaging/single-binary-start.js', 'utf8')

registerHooks({
  resolve(specifier, context, next) {
    const isOwn = specifier.startsWith(root) || (specifier.startsWith('.') && context.parentURL?.startsWith(root))
    return isOwn ? { url: new URL(specifier, context.parentURL).href, format: 'module', shortCircuit: true } : next(specifier, context)
  },
  load(url, context, next) {
    if (!url.startsWith(root)) return next(url, context)
    return { source: getAsset(decodeURI(url.slice(root.length)), 'utf8'), format: 'module', shortCircuit: true }
  },
})

// a thread takes its script from the disk, where the scripts of ours are not
threads.Worker = class extends threads.Worker {
  /**
   * @param {string | URL} script
   * @param {import('node:worker_threads').WorkerOptions} [options]
   */
  constructor(script, options) {
    const isOwn = String(script).startsWith(root)
    super(isOwn ? `${text}\nimport(${JSON.stringify(String(script))})` : script, isOwn ? { ...options, eval: true } : options)
  }
}
syncBuiltinESMExports()

if (threads.isMainThread) void run()

async function run() {
  const { useCompiledEarly } = await import(`${root}build/daemon/use-compiled.mjs`)
  useCompiledEarly()
  await import(`${root}build/daemon/main.mjs`)
}
