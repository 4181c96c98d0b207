/** Divides the usage of an organization by days and projects, to explain the quantities of an invoice. */
import type { Axis } from '#config/plans/prices.ts'
import type { Database } from '#store/database.ts'
import { pack, type Element } from '#store/tuple.ts'
import { maxProjects, type ByProject, type Held } from '../../plan/by-project.ts'
import { limitsOf } from '../../plan/limits.ts'
import { peakUsage } from '../../plan/peak-usage.ts'
import { storedByDay } from './stored-traces.ts'
import { organizationSendCounter, sendCounter, usageCounter, usageDayCounter, type EventAxis } from '../../tenancy/counters.ts'
import { projects, type Organization, type Project } from '../../tenancy/organization.ts'
import type { Period } from '../period.ts'
import { overageOfDay, termsWithin, type PlanTerm } from '../plan-term.ts'
import { sharesOf } from './shares.ts'

export interface UseOfDay {
  readonly day: string
  readonly quantity: number
}

export interface UseOfProject {
  /** Null combines use without a project, use of removed projects, and projects beyond the largest. */
  readonly projectId: string | null
  readonly name: string
  readonly quantity: number
}

/** Without days and projects that have no use. */
export interface Explained {
  /** Quantities of the days, whose sum is the total. For a peak, the day of the peak; for an average, the quantity of each day. */
  readonly days: readonly UseOfDay[]
  /** Quantities of the projects, whose sum is the total. Projects beyond the 200 largest are combined in one row. */
  readonly projects: readonly UseOfProject[]
}

const dayMs = 86_400_000

const count = ({ kv }: Database, key: readonly Element[]): Promise<number> => kv.counter(pack(key))

/** Returns the number of accepted sends on each day of the month up to today, in order. */
export const sendsByDay = (database: Database, organizationId: string, { begun }: Period): Promise<number[]> =>
  Promise.all(begun.map((day) => count(database, organizationSendCounter(organizationId, day))))

/** Returns the sends of each day that exceed the plan of that day. */
export const overageByDay = (
  organization: Organization,
  terms: readonly PlanTerm[],
  { from }: Period,
  sends: readonly number[],
): number[] =>
  sends.map((sent, i) => {
    const day = from + i * dayMs
    return overageOfDay(termsWithin(organization, terms, day, day + dayMs).map(limitsOf), sent)
  })

/** Divides a quantity above 0 by days and projects. */
export async function explain(
  database: Database,
  organization: Organization,
  { terms, period, axis, quantity }: { terms: readonly PlanTerm[]; period: Period; axis: Axis; quantity: number },
): Promise<Explained> {
  const { id } = organization
  const byDay = (quantities: readonly number[]): UseOfDay[] =>
    quantities.flatMap((used, i) => (used > 0 ? [{ day: period.days[i] ?? '', quantity: used }] : []))
  if (axis === 'sources' || axis === 'smtp_credentials') {
    const { most, day } = await peakUsage(database, id, axis, period.month)
    return { days: [{ day, quantity: most.count }], projects: await named(database, id, most.projects, quantity) }
  }
  if (axis === 'traces_stored') {
    const stored = await storedByDay(database, id, period.begun)
    const parts = averageByProject(stored, quantity)
    return { days: byDay(stored.map(({ count: held }) => held)), projects: await named(database, id, parts, quantity) }
  }
  if (axis === 'sends_overage') {
    const sends = await sendsByDay(database, id, period)
    const beyond = overageByDay(organization, terms, period, sends)
    return { days: byDay(beyond), projects: await overageByProject(database, id, period, { sends, beyond }) }
  }
  const counted = await Promise.all(period.begun.map((day) => count(database, usageDayCounter(id, axis, day))))
  return { days: byDay(counted), projects: await eventsByProject(database, id, axis, period.month) }
}

/** Divides the average by each project's share of the sum of all days. */
function averageByProject(stored: readonly Held[], quantity: number): ByProject {
  const sums = new Map<string, number>()
  let all = 0
  for (const { count: held, projects: parts } of stored) {
    all += held
    for (const [projectId, part] of parts) sums.set(projectId, (sums.get(projectId) ?? 0) + part)
  }
  const known = [...sums.values()].reduce((sum, part) => sum + part, 0)
  const shares = sharesOf(quantity, [...sums.values(), Math.max(0, all - known)])
  return [...sums.keys()].map((projectId, i) => [projectId, shares[i] ?? 0])
}

async function named(database: Database, organizationId: string, parts: ByProject, all: number): Promise<UseOfProject[]> {
  const names = new Map((await database.all(projects, { organizationId })).map(({ record }) => [record.id, record.name]))
  const there = parts.flatMap(([projectId, quantity]) => {
    const name = names.get(projectId)
    return name === undefined ? [] : [{ projectId, name, quantity }]
  })
  return largest(there, all)
}

async function eventsByProject(database: Database, organizationId: string, axis: EventAxis, month: string): Promise<UseOfProject[]> {
  const all = await database.all(projects, { organizationId })
  const counted = await Promise.all(all.map(({ record }) => ofProject(database, organizationId, record, axis, month)))
  return largest(counted, await count(database, usageCounter(organizationId, axis, month)))
}

/** Returns the largest projects, and the rest of `all` in a separate row. */
function largest(counted: readonly UseOfProject[], all: number): UseOfProject[] {
  const used = counted.filter(({ quantity }) => quantity > 0).toSorted((a, b) => b.quantity - a.quantity)
  const rows = used.slice(0, maxProjects)
  const rest = all - rows.reduce((sum, { quantity }) => sum + quantity, 0)
  return rest > 0 ? [...rows, { projectId: null, name: '', quantity: rest }] : rows
}

/** Divides the overage of each day by each project's share of that day's sends. */
async function overageByProject(
  database: Database,
  organizationId: string,
  { days }: Period,
  { sends, beyond }: { readonly sends: readonly number[]; readonly beyond: readonly number[] },
): Promise<UseOfProject[]> {
  const all = await database.all(projects, { organizationId })
  const totals = all.map(() => 0)
  for (const [i, quantity] of beyond.entries()) {
    if (quantity === 0) continue
    const counted = await Promise.all(all.map(({ record }) => count(database, sendCounter(organizationId, record.id, days[i] ?? ''))))
    const others = Math.max(0, (sends[i] ?? 0) - counted.reduce((sum, sent) => sum + sent, 0))
    for (const [at, share] of sharesOf(quantity, [...counted, others]).entries())
      if (at < totals.length) totals[at] = (totals[at] ?? 0) + share
  }
  const shared = all.map(({ record: { id, name } }, i) => ({ projectId: id, name, quantity: totals[i] ?? 0 }))
  return largest(
    shared,
    beyond.reduce((sum, quantity) => sum + quantity, 0),
  )
}

const ofProject = async (database: Database, organizationId: string, { id, name }: Project, axis: EventAxis, month: string) => ({
  ...{ projectId: id, name },
  quantity: await count(database, usageCounter(organizationId, axis, month, id)),
})
