/**
 * The layer of each file, and the permitted direction of imports: strictly downward, by alias across layers and by relative path within a
 * layer.
 */
import { posix } from 'node:path'
import type { Import, Source } from './source.ts'

/** The layers by folder, lowest rank first; a file belongs to the longest folder that holds it. Equal ranks never meet. */
export const layers = {
  config: { rank: 0, alias: '#config/' },
  store: { rank: 1, alias: '#store/' },
  'daemon/core': { rank: 2, alias: '#core/' },
  ingest: { rank: 3, alias: '#ingest/' },
  protocols: { rank: 4, alias: undefined },
  'admin-api': { rank: 4, alias: undefined },
  daemon: { rank: 5, alias: undefined },
  test: { rank: 6, alias: undefined },
} as const satisfies Record<string, { rank: number; alias: string | undefined }>

export type Layer = keyof typeof layers

const byLength = (Object.keys(layers) as Layer[]).toSorted((a, b) => b.length - a.length)

/** The layer of a file; undefined outside all layers. */
export const layerOf = (path: string): Layer | undefined => byLength.find((layer) => path.startsWith(`${layer}/`))

/** The file that an import names, relative to the repository; undefined for packages and built-in modules. */
export function resolveImport(from: string, specifier: string): string | undefined {
  if (/^\.{1,2}\//.test(specifier)) return posix.normalize(posix.join(posix.dirname(from), specifier))
  const layer = byLength.find((name) => layers[name].alias !== undefined && specifier.startsWith(layers[name].alias ?? ''))
  return layer && posix.normalize(`${layer}/${specifier.slice(layers[layer].alias?.length)}`)
}

/** Every import that goes up, sideways, or under the wrong name. Tests may import anything. */
export function importDirection(sources: readonly Source[]): string[] {
  return sources.flatMap((source) => {
    const from = layerOf(source.path)
    if (!from) return [`${source.path} has no layer; move it, or give its folder a rank in test/tidy/layers.ts`]
    if (from === 'test') return []
    return source.imports.flatMap((one) => {
      const fault = judge(source.path, from, one)
      return fault ? [`${source.path}:${one.line} imports ${one.specifier}: ${fault}`] : []
    })
  })
}

function judge(path: string, from: Layer, { specifier, typeOnly }: Import): string | undefined {
  const target = resolveImport(path, specifier)
  if (target === undefined) return undefined
  const to = layerOf(target)
  const relative = specifier.startsWith('.')
  if (!to) return target.startsWith('../') ? 'it lies outside the repository' : notCode(target)
  if (to === from) return relative ? undefined : `inside ${from}, import by relative path`
  if (layers[to].rank >= layers[from].rank) return `${from} may not import ${to}`
  if (from === 'ingest' && to === 'daemon/core' && !typeOnly) return 'ingest takes only types from the core'
  if (relative && layers[to].alias) return `across layers, import by alias: ${layers[to].alias}${target.slice(to.length + 1)}`
  return undefined
}

const notCode = (target: string): string | undefined => (target.endsWith('.ts') ? 'it has no layer' : undefined)
