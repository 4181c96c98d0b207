// @ts-check
/**
 * First script of the single binary, in the process and in each thread. It resolves modules within the binary, as if its path were a
 * folder. A script and not a module, because Node embeds it that way; its text is also the start of every thread.
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

// a thread loads its script from the disk, but these scripts are only in the binary
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
