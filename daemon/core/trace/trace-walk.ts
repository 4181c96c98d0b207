/** Traces in order of time. The store orders them within each project; walks of an organization merge its projects. */
import type { Database, Page, Sieve, Visibility } from '#store/database.ts'
import { merged, mergedPage, type Source } from '#store/merge.ts'
import { indexPrefix, type Stored } from '#store/record-kind.ts'
import { unpack, within, type Element } from '#store/tuple.ts'
import { foldAddress } from '../addresses.ts'
import { comparable } from './comparable.ts'
import { firstIdOf, timeOfId } from './arrivals.ts'
import { captured, inTime, isCapturedLate, traces, type Trace } from './trace.ts'

/** Filter and direction of a walk. */
export interface WalkedTraces {
  /** Only of this project. */
  readonly projectId?: string | undefined
  /** Only to this recipient, ignoring case. */
  readonly to?: string | undefined
  /** Only with this tag, ignoring case; `to` is then ignored. */
  readonly tag?: string | undefined
  /** Oldest first. */
  readonly ascending?: boolean
  /** Only traces earlier than this time, in milliseconds since the epoch; for walks from the newest. */
  readonly before?: number | undefined
  /** Only traces at or after this time; for walks from the oldest. */
  readonly since?: number | undefined
}

/** Returns one page. The cursor continues in the same direction. Throws `CursorInvalid`. */
export async function traceList(
  database: Database,
  reach: Visibility,
  { limit, cursor, ...walked }: WalkedTraces & { readonly limit: number; readonly cursor?: string | undefined },
  sieve?: Sieve<Trace>,
): Promise<Page<Stored<Trace>>> {
  const { projectId = '', to, tag, ascending = false } = walked
  const labelled = tag === undefined ? undefined : ['tag', projectId, comparable(tag)]
  const list = labelled ?? (to === undefined ? ['', projectId] : ['to', projectId, foldAddress(to)])
  const name = ascending ? [...list, 'ascending'] : list
  return mergedPage(database, traces, reach, { ...(await mergeOf(database, reach, walked)), name, limit, cursor, isPlace }, sieve)
}

/** Yields all traces in order, and undefined for each inaccessible trace. `expected`: estimated number of wanted traces. */
export async function* walkTraces(
  database: Database,
  reach: Visibility,
  walked: WalkedTraces,
  expected: number,
): AsyncGenerator<Trace | undefined> {
  const merge = await mergeOf(database, reach, walked)
  for await (const { stored } of merged(database, traces, reach, { ...merge, expected })) yield stored?.record
}

/** Yields each distinct sequence of `elements` elements that follows a prefix, with one seek each. */
async function* partsBehind(database: Database, prefix: readonly Element[], elements: number): AsyncGenerator<readonly Element[]> {
  const { end } = within(prefix)
  for (let { start } = within(prefix); ;) {
    let part: readonly Element[] | undefined
    for await (const { key } of database.kv.range({ start, end, limit: 1, whole: true }))
      part = unpack(key).slice(prefix.length, prefix.length + elements)
    if (!part) return
    yield part
    start = within([...prefix, ...part]).end
  }
}

async function mergeOf(database: Database, reach: Visibility, { projectId, to, tag, ascending, before, since }: WalkedTraces) {
  const only = projectId ?? (reach.bound ? reach.projectId : undefined)
  const sources =
    tag !== undefined
      ? [{ prefix: [...indexPrefix(traces.name, reach.organizationId, 'tag'), comparable(tag)], isIndex: true, ...byTime }]
      : to === undefined
        ? await byProject(database, reach, only)
        : await toRecipient(database, reach, foldAddress(to), only)
  const from = ascending ? since : before
  return { sources, ...(ascending && { ascending }), ...(from !== undefined && { from: [from] }) }
}

/**
 * Positions in the common order are time, capture id, and the rest. Keys of immediate captures contain both; other keys contain the time
 * and no capture id.
 */
const byTime: Pick<Source<Trace>, 'placeOf' | 'restAt'> = {
  placeOf: ([at = 0, id = '']) => [at, '', id],
  restAt: ([at = 0, captureId, id = '']) => (captureId === undefined ? [at] : captureId === '' ? [at, id] : [Number(at) + 1]),
}
const isPlace = ([at, ...ids]: readonly Element[]): boolean =>
  typeof at === 'number' && at >= 0 && ids.length >= 2 && ids.every((id) => typeof id === 'string')
const byCapture: Pick<Source<Trace>, 'placeOf' | 'restAt'> = {
  placeOf: (rest) => [timeOfId(String(rest[0])), ...rest],
  restAt: ([at, ...rest]) => (rest[0] === undefined || rest[0] === '' ? [firstIdOf(Number(at))] : rest),
}

/** Only reads projects that have rows, because there can be a thousand projects. */
async function byProject(database: Database, reach: Visibility, only: string | undefined): Promise<Source<Trace>[]> {
  const late = indexPrefix(traces.name, reach.organizationId, 'late')
  const withLate = only === undefined ? await Array.fromAsync(partsBehind(database, late, 1)) : [[only]]
  return [
    ...(await areasOf(database, reach, only)).map(([prefix, area]) =>
      area === captured ? { prefix, isIndex: false, ...byCapture, skips: isCapturedLate } : { prefix, isIndex: false, ...byTime },
    ),
    ...withLate
      .filter(([project]) => !reach.hiddenProjects?.has(String(project)))
      .map((project) => ({ prefix: [...late, ...project], isIndex: true, ...byTime })),
  ]
}

/** Returns the key prefixes of each project with their kind: by time or by capture. */
async function areasOf(
  database: Database,
  { organizationId, hiddenProjects }: Visibility,
  only: string | undefined,
): Promise<(readonly [prefix: readonly Element[], area: Element])[]> {
  const all = [organizationId, traces.name]
  const areas = only === undefined ? await Array.fromAsync(partsBehind(database, all, 2)) : [inTime, captured].map((area) => [only, area])
  return areas
    .filter(([project]) => !hiddenProjects?.has(String(project)))
    .map(([project = '', area = inTime]) => [[...all, project, area], area] as const)
}

async function toRecipient(database: Database, reach: Visibility, to: string, only: string | undefined): Promise<Source<Trace>[]> {
  const { organizationId } = reach
  const skips = (trace: Trace): boolean => isCapturedLate(trace) || !trace.recipients.some(({ address }) => foldAddress(address) === to)
  const withCaptures = (await areasOf(database, reach, only)).filter(([, area]) => area === captured)
  return [
    { prefix: [...indexPrefix(traces.name, organizationId, 'recipient'), to], isIndex: true, ...byTime },
    ...withCaptures.map(([[, , project = '']]) => ({
      ...{ prefix: [...indexPrefix(traces.name, organizationId, 'address'), project, to], isIndex: true, ...byCapture, skips },
    })),
  ]
}
