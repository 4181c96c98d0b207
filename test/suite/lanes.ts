/**
 * Lanes of test modules. The lane follows from the imports of the module, direct or indirect; no module is marked by hand.
 */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'

/**
 * `exact`: virtual time, one process and no other programs, so every failure counts. `browser`: pages in Chromium. `real`: daemons, peers
 * and other programs as child processes. `measured`: measurements of time, processor and memory, which run alone.
 */
export type TestLane = 'exact' | 'real' | 'browser' | 'measured'

export const lanes: readonly TestLane[] = ['exact', 'real', 'browser', 'measured']

const folder = 'test'
const imported =
  /^(?:import|export)\s(?!type\b)[^'"]*?from\s+['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm
const measures = /\b(?:monitorEventLoopDelay|cpuUsage)\b/

interface Module {
  /** Paths of files, and names of packages. */
  readonly imports: readonly string[]
  readonly measures: boolean
}

function read(root: string, path: string, aliases: Aliases): Module {
  const text = readFileSync(join(root, path), 'utf8')
  const specifiers = [...text.matchAll(imported)].map(([, from, bare, dynamic]) => from ?? bare ?? dynamic ?? '')
  const imports = specifiers.map((specifier) => (specifier.startsWith('.') ? join(dirname(path), specifier) : resolved(specifier, aliases)))
  return { imports, measures: measures.test(text) }
}

/** Prefixes of aliases (`#store/`) with the prefixes of their paths. */
type Aliases = readonly (readonly [string, string])[]

function aliasesOf(root: string): Aliases {
  const { imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { imports: Readonly<Record<string, string>> }
  return Object.entries(imports).map(([alias, path]) => [alias.replace('*', ''), join(path.replace('*', ''))])
}

function resolved(specifier: string, aliases: Aliases): string {
  const [alias, path] = aliases.find(([beginning]) => specifier.startsWith(beginning)) ?? ['', '']
  return path + specifier.slice(alias.length)
}

/** Every test module of the tree with all that it imports, in the order of their paths. */
export function importsOfModules(root: string): ReadonlyMap<string, ReadonlySet<string>> {
  const known = new Map<string, Module>()
  const aliases = aliasesOf(root)
  const moduleAt = (path: string): Module => {
    const found = known.get(path) ?? read(root, path, aliases)
    known.set(path, found)
    return found
  }
  const reach = (start: string): ReadonlySet<string> => {
    const seen = new Set<string>([start])
    for (const path of seen) {
      if (!path.startsWith(`${folder}/`) || !path.endsWith('.ts')) continue
      const { imports, measures: measuring } = moduleAt(path)
      for (const one of imports) seen.add(one)
      if (measuring && !path.startsWith('test/suite/')) seen.add(measure)
    }
    return seen
  }
  const paths = globSync(`${folder}/**/*.test.ts`, { cwd: root }).toSorted()
  return new Map(paths.map((path) => [path, reach(path)]))
}

/** Added to the imports of a file that measures without `support/measure`. */
const measure = 'test/support/measure/'

function laneFrom(imports: ReadonlySet<string>): TestLane {
  const has = (what: (one: string) => boolean): boolean => [...imports].some(what)
  if (has((one) => one.startsWith(measure))) return 'measured'
  if (imports.has('test/support/web/browser.ts')) return 'browser'
  const programs = ['test/support/daemon/daemon.ts', 'node:child_process']
  if (programs.some((one) => imports.has(one)) || has((one) => one.startsWith('test/support/peers/'))) return 'real'
  return 'exact'
}

/** Returns the files of `test/` that only modules of the lane import, and these modules. */
export function filesOfLane(modules: ReadonlyMap<string, ReadonlySet<string>>, lane: TestLane): ReadonlySet<string> {
  const [own, others] = [new Set<string>(), new Set<string>()]
  for (const [path, imports] of modules) {
    const into = lanesOf(new Map([[path, imports]])).get(path) === lane ? own : others
    for (const one of imports) if (one.startsWith(`${folder}/`)) into.add(one)
  }
  return own.difference(others)
}

/** Returns the lane of every test module by path. */
export function lanesOf(modules: ReadonlyMap<string, ReadonlySet<string>>): ReadonlyMap<string, TestLane> {
  return new Map([...modules].map(([path, imports]) => [path, laneFrom(imports)]))
}
