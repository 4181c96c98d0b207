#!/usr/bin/env node
// @ts-check
/**
 * Entry point: runs the built program, or the sources if one of them has changed since the build. Prepares the compilation of sources
 * first. JavaScript, because Node would otherwise load its TypeScript compiler at every start.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import * as modules from 'node:module'
import { fileURLToPath } from 'node:url'
import { isSecondStart, runWithOwnNode, takeForwardedSignals } from './process/own-node.js'
import { useCompiledEarly } from './process/use-compiled.js'

const root = new URL('../', import.meta.url).href
if (isSecondStart()) takeForwardedSignals()
else if (isOldNode()) await runWithOwnNode() // returns only if that Node is missing or does not start
/** @type {unknown} */
const hooks = modules.registerHooks
if (typeof hooks !== 'function') {
  process.stderr.write(
    `Postern needs Node.js 24, and this is ${process.version}. Use "npm start" or "npx postern", which bring their own.\n`,
  )
  process.exit(78)
}
useCompiledEarly()
if (isBuilt()) {
  await import(new URL('build/daemon/main.mjs', root).href)
} else {
  await import('./packaging/own-modules.js')
  await import('./main.ts')
}

function isOldNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  return typeof modules.registerHooks !== 'function' || major < 24 || (major === 24 && minor < 12)
}

/**
 * Whether all built files exist and match their sources. Checking a thousand files takes some milliseconds. With flags for debugging,
 * profiling or preloading, the sources run instead.
 */
function isBuilt() {
  const flags = [...process.execArgv, process.env.NODE_OPTIONS].join(' ')
  if (/(^|\s)(-r|--(inspect|(cpu-|heap-)?prof|require|import|(experimental-)?loader))\b/.test(flags)) return false
  try {
    /** @type {import('./packaging/build.ts').BuiltFrom} */
    const { sources, files } = JSON.parse(readFileSync(new URL('build/daemon/built-from.json', root), 'utf8'))
    const folder = fileURLToPath(root)
    const there = new Set(readdirSync(`${folder}build/daemon`))
    if (!files.every((name) => there.has(name))) return false
    return sources.every(([path, modifiedMs, octets]) => {
      const { mtimeMs, size } = statSync(folder + path)
      return size === octets && (mtimeMs === modifiedMs || mtimeMs === Math.trunc(modifiedMs / 1000) * 1000) // archives store whole seconds
    })
  } catch {
    return false
  }
}
