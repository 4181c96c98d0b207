/** Traces in order of their time: they lie so within each project, and the walks of an organization are put together from its projects. */
import type { Database, Page, Sieve, Visibility } from '#store/database.ts'
import { merged, mergedPage, type Source } from '#store/merge.ts'
import { indexPrefix, type Stored } from '#store/record-kind.ts'
import { unpack, within, type Element } from '#store/tuple.ts'
import { foldAddress } from '../addresses.ts'
import { inTime, traces, type Trace } from './trace.ts'

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
  const sources = to === undefined ? await byProject(database, reach, projectId) : [toRecipient(reach, to)]
  return { sources, ...(ascending && { ascending }), ...(before !== undefined && { from: [before] }) }
}

const asItIs = (elements: readonly Element[]): readonly Element[] => elements

async function byProject(database: Database, reach: Visibility, projectId: string | undefined): Promise<Source<Trace>[]> {
  const { organizationId, hiddenProjects } = reach
  const only = projectId ?? (reach.bound ? reach.projectId : undefined)
  const projects = only === undefined ? await Array.fromAsync(projectsWithTraces(database, organizationId)) : [only]
  return projects
    .filter((project) => !hiddenProjects?.has(project))
    .map((project) => ({ prefix: [organizationId, traces.name, project, inTime], isIndex: false, placeOf: asItIs, restAt: asItIs }))
}

const toRecipient = ({ organizationId }: Visibility, to: string): Source<Trace> => ({
  prefix: [...indexPrefix(traces.name, organizationId, 'recipient'), foldAddress(to)],
  isIndex: true,
  placeOf: asItIs,
  restAt: asItIs,
})
