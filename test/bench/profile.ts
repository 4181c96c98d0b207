/** Time of a daemon's main thread under load: a V8 CPU profile of one run, as shares by part of the program. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from '../support/daemon/workspace.ts'
import type { Postern } from './contenders.ts'
import type { Measured } from './measure.ts'
import { row } from './results.ts'

/** Shares of the busy time of the main thread, between 0 and 1. */
export interface Shares {
  readonly parts: Readonly<Record<string, number>>
  /** Functions with the largest self time, without their callees. */
  readonly functions: readonly { readonly name: string; readonly share: number }[]
}

/** The used fields of a `--cpu-prof` file. Times are in microseconds of the clock of `monotonicMs()`. */
interface CpuProfile {
  readonly nodes: readonly ProfileNode[]
  readonly startTime: number
  readonly samples: readonly number[]
  /** Time before each sample. */
  readonly timeDeltas: readonly number[]
}

interface ProfileNode {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  readonly children?: readonly number[]
}

const root = new URL('../../', import.meta.url).href
const mostFunctions = 40

/** The first pattern that matches the path of a function's file applies. */
const parts: readonly (readonly [string, RegExp])[] = [
  ['logs and metrics', /^daemon\/observability\/|^node_modules\/(pino|sonic-boom|thread-stream|prom-client|safe-stable-stringify)/],
  ['core: submission', /^daemon\/core\/submission\//],
  ['core: delivery', /^daemon\/core\/delivery\//],
  ['core: the rest', /^daemon\/core\//],
  ['store and LevelDB', /^store\/|^node_modules\/(level|classic-level|abstract-level)/],
  ['SMTP package', /^node_modules\/smtp-server\//],
  ['SMTP doors and relay', /^protocols\//],
  ['HTTP door', /^admin-api\/|^node_modules\/(h3|srvx|rou3|zod)\//],
  ['reading of mail', /^ingest\/|^node_modules\/(mail|htmlparser2|libmime|iconv)/],
  ['Node: TLS and crypto', /^node:(_?tls|internal\/(tls|crypto)|crypto)/],
  ['Node: sockets and streams', /^node:(net|_http|http|stream|dgram|internal\/(net|stream|http|js_stream))/],
  ['Node: the rest', /^node:/],
]

const metaParts: ReadonlyMap<string, string> = new Map([
  ['(garbage collector)', 'garbage collection'],
  ['(program)', 'native, without JavaScript'],
])

/** Profiles one run of a daemon. `live` puts it under load; the result has the shares of each of its measurements. */
export async function profiled(
  start: (env: Readonly<Record<string, string>>) => Promise<Postern>,
  live: (postern: Postern) => Promise<ReadonlyMap<string, Measured>>,
): Promise<ReadonlyMap<string, Shares>> {
  await using folder = await temporaryFolder('bench-profile')
  await using postern = await start({ NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder.path}` })
  const measured = await live(postern)
  await postern.daemon.stop() // the profile is written when the process exits
  const profile = await mainProfile(folder.path)
  return new Map([...measured].map(([name, { from, until }]) => [name, sharesBetween(profile, from * 1000, until * 1000)]))
}

/** Names are `CPU.date.time.process.thread.number.cpuprofile`; the main thread is number 0. */
async function mainProfile(folder: string): Promise<CpuProfile> {
  const name = (await readdir(folder)).find((file) => /^CPU\.\d+\.\d+\.\d+\.0\.\d+\.cpuprofile$/.test(file))
  if (name === undefined) throw new Error('the daemon left no profile')
  return JSON.parse(await readFile(join(folder, name), 'utf8')) as CpuProfile
}

/** Computes shares without idle time. A sample counts until the next one. */
export function sharesBetween({ nodes, startTime, samples, timeDeltas }: CpuProfile, from: number, until: number): Shares {
  const places = placesOf(nodes)
  const byPart = new Map<string, number>()
  const byFunction = new Map<string, number>()
  let busy = 0
  let at = startTime
  for (const [i, id] of samples.entries()) {
    at += timeDeltas[i] ?? 0
    const place = places.get(id)
    const lasted = timeDeltas[i + 1] ?? 0
    if (at < from || at > until || !place) continue
    busy += lasted
    byPart.set(place.part, (byPart.get(place.part) ?? 0) + lasted)
    byFunction.set(place.name, (byFunction.get(place.name) ?? 0) + lasted)
  }
  const ranked = (shares: ReadonlyMap<string, number>): [string, number][] =>
    [...shares].map(([name, lasted]): [string, number] => [name, lasted / busy]).toSorted(([, a], [, b]) => b - a)
  return {
    parts: Object.fromEntries(ranked(byPart)),
    functions: ranked(byFunction)
      .slice(0, mostFunctions)
      .map(([name, share]) => ({ name, share })),
  }
}

interface Place {
  readonly part: string
  readonly name: string
}

/** Returns the place of each node, except idle ones. Native functions have no file and count for their caller. */
function placesOf(nodes: readonly ProfileNode[]): ReadonlyMap<number, Place> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const places = new Map<number, Place>()
  const visit = (node: ProfileNode, callersPart: string): void => {
    const { functionName, url, lineNumber } = node.callFrame
    const path = url.startsWith(root) ? url.slice(root.length) : url
    const part = metaParts.get(functionName) ?? (path === '' ? callersPart : partOf(path))
    const where = path === '' ? 'native' : `${path}:${String(lineNumber + 1)}`
    if (functionName !== '(idle)') places.set(node.id, { part, name: `${functionName || '(anonymous)'} ${where}` })
    for (const id of node.children ?? []) {
      const child = byId.get(id)
      if (child) visit(child, part)
    }
  }
  const [first] = nodes
  if (first) visit(first, 'other')
  return places
}

const partOf = (path: string): string => parts.find(([, pattern]) => pattern.test(path))?.[0] ?? 'other'

/** Formats the parts as lines in percent, with a column for each kind of traffic. */
export function shareLines(profile: ReadonlyMap<string, Shares>): string[] {
  const all = [...profile.values()]
  if (all.length === 0) return []
  const most = (part: string): number => Math.max(...all.map((shares) => shares.parts[part] ?? 0))
  const names = [...new Set(all.flatMap((shares) => Object.keys(shares.parts)))].toSorted((a, b) => most(b) - most(a))
  return [
    'Busy time of the main thread in percent, in a separate run with the profiler:',
    row('', [...profile.keys()]),
    ...names.map((name) =>
      row(
        name,
        all.map((shares) => (100 * (shares.parts[name] ?? 0)).toFixed(1)),
      ),
    ),
  ]
}
