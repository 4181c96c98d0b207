#!/usr/bin/env node
// @ts-check
/**
 * The program: runs what `npm ci` built of it, or the sources when one of them has changed since; prepares how modules are found and
 * compiled before. JavaScript, because Node would load its compiler for TypeScript at every start to read this file.
 */
import { readFileSync, statSync } from 'node:fs'
import * as modules from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = new URL('../', import.meta.url).href
/** @type {{ readonly imports: Readonly<Record<string, string>> }} */
const { imports } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
/** The URL of the folder behind each alias, such as `#core/`. */
const folders = new Map(Object.entries(imports).map(([alias, path]) => [alias.slice(0, -1), new URL(path.slice(0, -1), root).href]))
/** @type {Map<string, import('node:module').ResolveFnOutput>} */
const packages = new Map()

/** @type {unknown} */
const hooks = modules.registerHooks
if (typeof hooks !== 'function') {
  process.stderr.write(
    `Postern needs Node.js 24, and this is ${process.version}. Use "npm start" or "npx postern", which bring their own.\n`,
  )
  process.exit(78)
}
if (process.argv[2] === 'serve') useCompiled()
if (isBuilt()) {
  await import(new URL('build/daemon/main.mjs', root).href)
} else {
  modules.registerHooks({ resolve })
  await import('./main.ts')
}

/**
 * Whether everything that was built still is what it was built from; a look at a thousand files takes some milliseconds. Who debugs,
 * profiles or brings code along finds the modules that they know.
 */
function isBuilt() {
  if (/--(inspect|(cpu-|heap-)?prof|import|(experimental-)?loader)\b/.test([...process.execArgv, process.env.NODE_OPTIONS].join(' ')))
    return false
  try {
    /** @type {import('./packaging/build.ts').BuiltFrom} */
    const sources = JSON.parse(readFileSync(new URL('build/daemon/built-from.json', root), 'utf8'))
    const folder = fileURLToPath(root)
    return sources.every(([path, modifiedMs, octets]) => {
      const { mtimeMs, size } = statSync(folder + path)
      return size === octets && (mtimeMs === modifiedMs || mtimeMs === Math.trunc(modifiedMs / 1000) * 1000) // as archives keep it
    })
  } catch {
    return false
  }
}

/**
 * Finds a module without a look at the disk where its specifier says all: own files are written with their extension, and a package
 * is the same one for all of them.
 * @type {import('node:module').ResolveHookSync}
 */
function resolve(specifier, context, next) {
  if (specifier.startsWith('node:')) return { url: specifier, format: 'builtin', shortCircuit: true }
  const { parentURL = '', conditions } = context
  if (!parentURL.startsWith(root) || !parentURL.endsWith('.ts') || !conditions.includes('import')) return next(specifier, context)
  if (specifier.endsWith('.ts')) return { url: ownFile(specifier, parentURL), format: 'module-typescript', shortCircuit: true }
  if (/^[.#/]/.test(specifier)) return next(specifier, context) // such as a JSON file beside its importer
  const known = packages.get(specifier)
  if (known !== undefined) return known
  const { url, format } = next(specifier, context)
  const found = { url, format, shortCircuit: true }
  packages.set(specifier, found)
  return found
}

/**
 * @param {string} specifier
 * @param {string} parentURL
 */
function ownFile(specifier, parentURL) {
  const end = specifier.indexOf('/') + 1
  const folder = folders.get(specifier.slice(0, end))
  return folder === undefined ? new URL(specifier, parentURL).href : folder + specifier.slice(end)
}

/**
 * Takes the code that earlier starts compiled, already for the command line. The configuration is read later, so that only a data
 * folder counts that is there; a wrong guess costs time and nothing else. A configuration that comes through a pipe can be read only
 * once, and code in a folder that others can write to is not run.
 */
function useCompiled() {
  try {
    const { POSTERN_DATA_DIR: wanted, POSTERN_CONFIG: file } = process.env
    const dataDir = wanted?.trim() || (file && statSync(file).isFile() && JSON.parse(readFileSync(file, 'utf8')).dataDir) || 'data'
    const folder = statSync(dataDir)
    const isOurs = process.getuid === undefined || (folder.uid === process.getuid() && (folder.mode & 0o022) === 0)
    if (folder.isDirectory() && isOurs) modules.enableCompileCache(join(dataDir, 'compiled'))
  } catch {
    // a first start, or a fault that the command line will explain
  }
}
