/** Returns figures over time from stored counts, without reading messages, for one project or the whole organization. */
import { addCounts, foldSubjects, type Counts } from '#store/tally.ts'
import type { Core } from '../core.ts'
import { requireReach } from '../access/principal/organization-acts.ts'
import type { Principal } from '../access/principal/principal.ts'
import { listed, type OfProject } from '../access/principal/lists.ts'
import { invalid } from '../refusals.ts'
import { apartPrefixes, levels, maxDomains, ofDomains, ofProject, wholeOrganization, type CountedThing, type Level } from './levels.ts'
import { addRow, partsOf, rolledTo, rowsOf, type Span, type Sums } from './rows.ts'
import type { Place } from './count.ts'

export interface InsightQuery extends OfProject {
  /** Milliseconds since the epoch; defaults to one day before `to`. */
  readonly from?: number | undefined
  /** Exclusive; defaults to the end of the current step. */
  readonly to?: number | undefined
  readonly stepSeconds?: number | undefined
}

/** Counts of each step in a period, including steps without events. */
export interface Counted {
  readonly from: number
  readonly to: number
  readonly stepSeconds: number
  readonly points: readonly CountedPoint[]
  readonly total: Counts
}

export interface CountedPoint {
  readonly at: number
  readonly counts: Counts
}

/** Counts of a period for each of several subjects or domains, the largest first. */
export interface CountedApart {
  readonly from: number
  readonly to: number
  readonly stepSeconds: number
  readonly subjects: readonly (Pick<Counted, 'points' | 'total'> & { readonly subject: string })[]
  /** Number of further subjects with counts. */
  readonly leftOut: number
}

const maxPoints = 400
/** Default steps in seconds. The first step with at most `usualPoints` points is used. */
const usualSteps = [60, 300, 900, 1800, 3600, 10_800, 21_600, 86_400, 7 * 86_400]
const usualPoints = 100
const dayMs = 86_400_000
const minuteMs = 60_000

export class Insights {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** Counts messages, webhooks, suppressions and logins of the project. */
  ofProject(principal: Principal, query: InsightQuery): Promise<Counted> {
    return this.#sum(principal, query, (subject) => subject === ofProject)
  }

  /** Counts recipients and attempts of all destinations. */
  ofDestinations(principal: Principal, query: InsightQuery): Promise<Counted> {
    return this.#sum(principal, query, isA('destination'))
  }

  /** Counts each destination, webhook endpoint, template or publishable key. */
  async byThing(thing: CountedThing, principal: Principal, query: InsightQuery & { readonly limit: number }): Promise<CountedApart> {
    return this.#apart(thing, await this.#placeOf(principal, query), query)
  }

  /** Counts each ingest source. Sources belong to the whole organization; throws `insufficient_scope` for keys of one project. */
  async byIngestSource(principal: Principal, query: Omit<InsightQuery, 'projectId'> & { readonly limit: number }): Promise<CountedApart> {
    requireReach(principal, 'sources.input')
    const { organizationId } = principal
    return this.#apart('ingestSource', { organizationId, projectId: wholeOrganization }, query)
  }

  /** Returns total counts of the recipient domains with the most mail. The subject of all other domains is empty. */
  async byDomain(principal: Principal, query: InsightQuery & { readonly limit: number }): Promise<CountedApart> {
    const { span, sums } = await this.#counted(await this.#placeOf(principal, query), query, (subject) => subject === ofDomains)
    const { total } = pointsOf(span, sums, () => true)
    foldSubjects(total, maxDomains.later)
    const byDomain = new Map<string, Counts>()
    for (const [name, times] of total) {
      const domain = name.slice(1)
      byDomain.set(domain, (byDomain.get(domain) ?? new Map<string, number>()).set(name.charAt(0), times))
    }
    const all = [...byDomain].map(([subject, counts]) => ({ subject, total: counts, points: [] }))
    return apart(span, all, query.limit)
  }

  async #sum(principal: Principal, query: InsightQuery, isMeant: (subject: string) => boolean): Promise<Counted> {
    const { span, sums } = await this.#counted(await this.#placeOf(principal, query), query, isMeant)
    const { from, to, stepSeconds } = span
    return { from, to, stepSeconds, ...pointsOf(span, sums, isMeant) }
  }

  async #apart(thing: CountedThing, place: Place, query: InsightQuery & { readonly limit: number }): Promise<CountedApart> {
    const { span, sums } = await this.#counted(place, query, isA(thing))
    const subjects = new Set([...sums.values()].flatMap((bySubject) => [...bySubject.keys()]))
    const all = [...subjects].map((subject) => ({ subject, ...pointsOf(span, sums, (one) => one === subject) }))
    return apart(span, all, query.limit)
  }

  /** Throws `not_found` for a project outside the principal's reach. */
  async #placeOf(principal: Principal, { projectId }: InsightQuery): Promise<Place> {
    const { project = wholeOrganization } = await listed(this.#core, principal, projectId)
    return { organizationId: principal.organizationId, projectId: project }
  }

  async #counted(
    place: Place,
    asked: InsightQuery,
    isMeant: (subject: string) => boolean,
  ): Promise<{ readonly span: Steps; readonly sums: Sums }> {
    const { database, clock } = this.#core
    const now = clock.now()
    const span = stepsOf(asked, now)
    const sums: Sums = new Map()
    const stepMs = span.stepSeconds * 1000
    for (const part of partsOf(span.level, { from: span.from, to: Math.min(span.to, now + minuteMs) }, await rolledTo(database)))
      for (const one of await this.#placesOf(place, part.level))
        for await (const { at, subject, counts } of rowsOf(database, part.level, one, part, isMeant, 'shown'))
          addRow(sums, at - ((at - span.from) % stepMs), subject, counts)
    return { span, sums }
  }

  /** Returns the places to sum; minutes are counted per project only. */
  async #placesOf(place: Place, level: Level): Promise<readonly Place[]> {
    if (place.projectId !== wholeOrganization || level !== levels[0]) return [place]
    const { projects } = await this.#core.policies.of(place.organizationId)
    return [place, ...[...projects.keys()].map((projectId) => ({ ...place, projectId }))]
  }
}

const isA =
  (thing: CountedThing) =>
  (subject: string): boolean =>
    subject.startsWith(apartPrefixes[thing])

interface Steps extends Span {
  readonly stepSeconds: number
  readonly level: Level
}

/** Returns the steps of a query. Throws `validation_failed` for too many points and for a period beyond the retention. */
function stepsOf({ from: asked, to: wanted, stepSeconds: given }: InsightQuery, now: number): Steps {
  const roughTo = wanted ?? now + 1 // the current step
  const roughFrom = asked ?? roughTo - dayMs
  if (roughFrom >= roughTo) throw invalid([{ path: 'from', message: 'must be before to' }])
  const usual = usualSteps.find((step) => (roughTo - roughFrom) / (step * 1000) <= usualPoints) ?? 7 * 86_400
  const stepSeconds = given ?? usual
  if (stepSeconds % 60 !== 0) throw invalid([{ path: 'step_seconds', message: 'must be a multiple of 60' }])
  const stepMs = stepSeconds * 1000
  const level = levels.findLast(({ ms }) => stepMs % ms === 0) ?? levels[0]
  const end = Math.ceil(roughTo / stepMs) * stepMs
  const from = asked === undefined ? end - Math.ceil(dayMs / stepMs) * stepMs : roughFrom - (roughFrom % level.ms)
  const to = from + Math.ceil((roughTo - from) / stepMs) * stepMs
  if ((to - from) / stepMs > maxPoints)
    throw invalid([{ path: 'step_seconds', message: `gives more than ${maxPoints} points; take a larger step or a shorter time` }])
  if (from < now - level.keepMs) {
    const days = Math.floor(level.keepMs / dayMs)
    throw invalid([{ path: 'from', message: `steps of ${stepSeconds} seconds reach back ${days} days; take a larger step` }])
  }
  return { from, to, stepSeconds, level }
}

/** Returns a point for each step, and the total. */
function pointsOf({ from, to, stepSeconds }: Steps, sums: Sums, isMeant: (subject: string) => boolean): Pick<Counted, 'points' | 'total'> {
  const points: CountedPoint[] = []
  const total: Counts = new Map()
  for (let at = from; at < to; at += stepSeconds * 1000) {
    const counts: Counts = new Map()
    for (const [subject, some] of sums.get(at) ?? []) if (isMeant(subject)) addCounts(counts, some)
    addCounts(total, counts)
    points.push({ at, counts })
  }
  return { points, total }
}

function apart({ from, to, stepSeconds }: Steps, all: CountedApart['subjects'], limit: number): CountedApart {
  const sizeOf = ({ total }: { readonly total: Counts }): number => total.values().reduce((sum, some) => sum + some, 0)
  const subjects = all.toSorted((a, b) => sizeOf(b) - sizeOf(a)).slice(0, limit)
  return { from, to, stepSeconds, subjects, leftOut: all.length - subjects.length }
}
