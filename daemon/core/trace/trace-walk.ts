/** Traces in order of their time: they lie so within each project, and the walks of an organization are put together from its projects. */
import type { Database, Page, Sieve, Visibility } from '#store/database.ts'
import { merged, mergedPage, type Source } from '#store/merge.ts'
import { indexPrefix, type Stored } from '#store/record-kind.ts'
import { unpack, within } from '#store/tuple.ts'
import { foldAddress } from '../addresses.ts'
import { firstIdOf, timeOfId } from './arrivals.ts'
import { captured, inTime, isCapturedLate, traces, type Trace } from './trace.ts'

/** Which traces are walked. */
export interface WalkedTraces {
  /** Of this project only. */
  readonly projectId?: string | undefined
  /** To this recipient only, in any case. */
  readonly to?: string | undefined
  /** The oldest first. */
  readonly ascending?: boolean
  /** Not those of this time and later, in milliseconds since the epoch; for walks from the newest. */
  readonly before?: number | undefined
}

/** One page of them. The cursor goes on behind it. Throws `CursorInvalid`. */
export async function traceList(
  database: Database,
  reach: Visibility,
  { limit, cursor, ...walked }: WalkedTraces & { readonly limit: number; readonly cursor?: string | undefined },
  sieve?: Sieve<Trace>,
): Promise<Page<Stored<Trace>>> {
  const { projectId = '', to } = walked
  const name = to === undefined ? ['', projectId] : ['to', projectId, foldAddress(to)]
  return mergedPage(database, traces, reach, { ...(await mergeOf(database, reach, walked)), name, limit, cursor }, sieve)
}

/** All of them one after the other, undefined for one out of reach. `expected`: how many are wanted, as far as that is known. */
export async function* walkTraces(
  database: Database,
  reach: Visibility,
  walked: WalkedTraces,
  expected: number,
): AsyncGenerator<Trace | undefined> {
  const merge = await mergeOf(database, reach, walked)
  for await (const { stored } of merged(database, traces, reach, { ...merge, expected })) yield stored?.record
}

/** The projects that have traces, in order of id; one seek each. */
export async function* projectsWithTraces(database: Database, organizationId: string): AsyncGenerator<string> {
  const prefix = [organizationId, traces.name]
  const { end } = within(prefix)
  for (let { start } = within(prefix); ;) {
    let projectId: string | undefined
    for await (const { key } of database.kv.range({ start, end, limit: 1 })) projectId = String(unpack(key)[2])
    if (projectId === undefined) return
    yield projectId
    start = within([...prefix, projectId]).end
  }
}

async function mergeOf(database: Database, reach: Visibility, { projectId, to, ascending, before }: WalkedTraces) {
  const only = projectId ?? (reach.bound ? reach.projectId : undefined)
  const all = only === undefined ? await Array.fromAsync(projectsWithTraces(database, reach.organizationId)) : [only]
  const projects = all.filter((project) => !reach.hiddenProjects?.has(project))
  const sources = to === undefined ? byProject(reach, projects) : toRecipient(reach, projects, foldAddress(to))
  return { sources, ...(ascending && { ascending }), ...(before !== undefined && { from: [before] }) }
}

/**
 * Places in the common order are time, id of the capture, and what follows. Of what was captured at once both are in the key; of the
 * others the time, and no capture.
 */
const byTime: Pick<Source<Trace>, 'placeOf' | 'restAt'> = {
  placeOf: ([at = 0, id = '']) => [at, '', id],
  restAt: ([at = 0, captureId, id = '']) => (captureId === undefined ? [at] : captureId === '' ? [at, id] : [Number(at) + 1]),
}
const byCapture: Pick<Source<Trace>, 'placeOf' | 'restAt'> = {
  placeOf: (rest) => [timeOfId(String(rest[0])), ...rest],
  restAt: ([at, ...rest]) => (rest[0] === undefined || rest[0] === '' ? [firstIdOf(Number(at))] : rest),
}

const byProject = ({ organizationId }: Visibility, projects: readonly string[]): Source<Trace>[] =>
  projects.flatMap((project) => [
    { prefix: [organizationId, traces.name, project, inTime], isIndex: false, ...byTime },
    { prefix: [...indexPrefix(traces.name, organizationId, 'late'), project], isIndex: true, ...byTime },
    { prefix: [organizationId, traces.name, project, captured], isIndex: false, ...byCapture, skips: isCapturedLate },
  ])

function toRecipient({ organizationId }: Visibility, projects: readonly string[], to: string): Source<Trace>[] {
  const skips = (trace: Trace): boolean => isCapturedLate(trace) || !trace.recipients.some(({ address }) => foldAddress(address) === to)
  return [
    { prefix: [...indexPrefix(traces.name, organizationId, 'recipient'), to], isIndex: true, ...byTime },
    ...projects.map((project) => ({
      ...{ prefix: [...indexPrefix(traces.name, organizationId, 'address'), project, to], isIndex: true, ...byCapture, skips },
    })),
  ]
}
