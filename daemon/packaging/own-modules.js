// @ts-check
/**
 * Resolves modules without disk access if the specifier is sufficient: own files have their extension, and a package is the same for all of
 * them. JavaScript, because Node loads its TypeScript compiler after this module.
 */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const root = new URL('../../', import.meta.url).href
/** @type {{ readonly imports: Readonly<Record<string, string>> }} */
const { imports } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
/** Maps each folder alias, such as `#core/`, to the URL of its folder. */
const folders = new Map(
  Object.entries(imports)
    .filter(([alias]) => alias.endsWith('*'))
    .map(([alias, path]) => [alias.slice(0, -1), new URL(path.slice(0, -1), root).href]),
)
/** @type {Map<string, import('node:module').ResolveFnOutput>} */
const packages = new Map()

registerHooks({ resolve })

/** @type {import('node:module').ResolveHookSync} */
function resolve(specifier, context, next) {
  if (specifier.startsWith('node:')) return { url: specifier, format: 'builtin', shortCircuit: true }
  const { parentURL = '', conditions } = context
  if (!parentURL.startsWith(root) || !parentURL.endsWith('.ts') || !conditions.includes('import')) return next(specifier, context)
  if (specifier.endsWith('.ts')) return { url: ownFile(specifier, parentURL), format: 'module-typescript', shortCircuit: true }
  if (/^[.#/]/.test(specifier)) return next(specifier, context) // such as a JSON file next to its importer
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
