/** Import cycles, between files and between nouns of the core. An import for types counts: it ties two files together for a reader too. */
import { resolveImport } from './layers.ts'
import type { Source } from './source.ts'

/** The imports of each node, with the place of the first import of each. */
type Graph = ReadonlyMap<string, ReadonlyMap<string, string>>

/** Every import cycle between files, as the path that leads back to its start with the line of each import on it. */
export const fileCycles = (sources: readonly Source[]): string[] => report(importGraph(sources, (path) => path))

/** `core.ts`, the context of all nouns, refers to some of them. It contains types only and is not a noun. */
const context = 'core.ts'

/** Every import cycle between the nouns of the core: its folders, and the files next to them. */
export const nounCycles = (sources: readonly Source[]): string[] => report(importGraph(sources, nounOf))

function nounOf(path: string): string | undefined {
  const noun = /^daemon\/core\/([^/]+)/.exec(path)?.[1]
  return noun === context ? undefined : noun
}

/** Returns the imports between files, grouped by the name that `group` returns. Files without a name are ignored. */
function importGraph(sources: readonly Source[], group: (path: string) => string | undefined): Graph {
  const graph = new Map<string, Map<string, string>>()
  for (const { path, imports } of sources) {
    const from = group(path)
    if (from === undefined) continue
    const targets = graph.get(from) ?? new Map<string, string>()
    graph.set(from, targets)
    for (const { specifier, line } of imports) {
      const target = resolveImport(path, specifier)
      const to = target === undefined ? undefined : group(target)
      const inside = to === from && target !== path // imports within a group, such as a folder of the core, are no cycle
      if (to !== undefined && !inside && !targets.has(to)) targets.set(to, `${path}:${line}`)
    }
  }
  return graph
}

function report(graph: Graph): string[] {
  const done = new Set<string>()
  const cycles: string[] = []
  const walk = (node: string, path: readonly string[]): void => {
    const start = path.indexOf(node)
    if (start >= 0) cycles.push(describe(graph, [...path.slice(start), node]))
    if (start >= 0 || done.has(node)) return
    for (const next of graph.get(node)?.keys() ?? []) walk(next, [...path, node])
    done.add(node)
  }
  for (const node of graph.keys()) walk(node, [])
  return cycles
}

const describe = (graph: Graph, cycle: readonly string[]): string =>
  cycle.reduce((text, node, index) => `${text} -> ${node} (${graph.get(cycle[index - 1] ?? '')?.get(node)})`)
