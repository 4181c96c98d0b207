/** Conditions of the mail of a project, from its counts. Pure. */
import { isNearlyTooMuch, isTooMuch, percentFrom, type Watched } from '#config/watch/limits.ts'
import type { Counts } from '#store/tally.ts'
import type { FindingParams, Observed } from '../../findings/finding.ts'
import type { FindingKind, Severity } from '../../findings/kinds.ts'
import { projectNames, recipientNames, refusedLetter, retryNames } from '../../insights/count.ts'
import { apartPrefixes, ofProject } from '../../insights/levels.ts'
import type { Project } from '../../tenancy/organization.ts'
import { observedAs, type Condition } from '../condition.ts'
import { sumOf, type Periods, type Step } from '../reading/steps.ts'

/** What conditions of a project read. */
export interface ProjectFigures {
  readonly project: Pick<Project, 'id' | 'name'>
  readonly steps: readonly Step[]
  readonly periods: Periods
}

/** A part of recipients or requests within a number of hours. */
interface Share {
  readonly what: Watched
  readonly some: number
  readonly all: number
  readonly hours: 1 | 24
}

/** Recipients that did not get mail, without any that did, within a quarter of an hour. */
const allFailing = 5
/** Maximum number of destinations that a finding names. */
const maxNamed = 10

const isDestination = (subject: string): boolean => subject.startsWith(apartPrefixes.destination)
const isProject = (subject: string): boolean => subject === ofProject
const of = (counts: Counts, name: string): number => counts.get(name) ?? 0

export function mailConditions(figures: ProjectFigures): readonly Condition[] {
  return [...shareConditions(figures), ...allFailingCondition(figures)]
}

function shareConditions({ project, steps, periods }: ProjectFigures): Condition[] {
  const shares = ([1, 24] as const).flatMap((hours) => {
    const since = hours === 1 ? periods.hour : periods.day
    return sharesOf(sumOf(steps, since, isDestination), sumOf(steps, since, isProject), hours)
  })
  return [...Map.groupBy(shares, ({ what }) => what)].flatMap(([what, both]) => {
    const found = both.flatMap((share) => {
      const severity = severityOf(share)
      return severity === undefined ? [] : [{ share, severity }]
    })
    const worst = found.find(({ severity }) => severity === 'error') ?? found[0]
    if (!worst) return []
    const params = {
      ...{ project: project.name, ...paramsOf(worst.share) },
      ...(what === 'refused' && refusalsOf(steps, periods, worst.share)),
      ...(what === 'deferred' && placesOf([])),
    }
    return [observedAs(worst.severity, `mail.${what}` satisfies FindingKind, project.id, params, project.id)]
  })
}

/**
 * Returns the shares. Of bounces and failures, which overlap, it returns the larger. Deferrals and refusals count for an hour only, because
 * they end with their cause. Complaints arrive late, so only those of a day count.
 */
function sharesOf(recipients: Counts, project: Counts, hours: 1 | 24): readonly Share[] {
  const [taken, failed, bounced, complained] = (['taken', 'failed', 'bounced', 'complained'] as const).map((fate) =>
    of(recipients, recipientNames[fate]),
  ) as [number, number, number, number]
  const ended = taken + failed
  const shares: Share[] = [
    bounced >= failed ? { what: 'bounced', some: bounced, all: ended, hours } : { what: 'failed', some: failed, all: ended, hours },
  ]
  if (hours === 1) shares.push(deferredShare(recipients, hours), refusedShare(project, hours))
  else shares.push({ what: 'complained', some: complained, all: ended, hours })
  return shares.map((share) => ({ ...share, all: Math.max(share.some, share.all) }))
}

/** Recipients whose first attempt was deferred. */
function deferredShare(recipients: Counts, hours: 1 | 24): Share {
  const first = (fate: keyof typeof retryNames): number =>
    Math.max(0, of(recipients, recipientNames[fate]) - of(recipients, retryNames[fate]))
  const some = first('deferred')
  return { what: 'deferred', some, all: first('taken') + first('failed') + some, hours }
}

function refusedShare(project: Counts, hours: 1 | 24): Share {
  const accepted = sentOutcomes.reduce((sum, outcome) => sum + of(project, projectNames[outcome]), 0)
  const some = [...refusalCounts(project).values()].reduce((sum, times) => sum + times, 0)
  return { what: 'refused', some, all: some + accepted, hours }
}

const sentOutcomes = ['relayed', 'captured.sandbox_destination', 'captured.no_route', 'captured.anonymous_project'] as const

/** Warns of most shares. Bounces and complaints are errors from the limit at which mailbox providers reject mail. */
function severityOf({ what, some, all }: Share): Severity | undefined {
  const isSplit = what === 'bounced' || what === 'complained'
  if (isTooMuch(what, some, all)) return isSplit ? 'error' : 'warning'
  return isNearlyTooMuch(what, some, all) ? 'warning' : undefined
}

function paramsOf({ some, all, hours }: Share): FindingParams {
  return { some, all, hours, percent: all < percentFrom ? 'none' : percentOf(some, all) }
}

/** Returns a percentage with at most one decimal. */
export const percentOf = (some: number, all: number): string => String(Math.round((some / all) * 1000) / 10)

/** Returns the first domain and the number of others. */
const placesOf = (domains: readonly string[]): FindingParams => ({ domain: domains[0] ?? 'none', more: Math.max(0, domains.length - 1) })

/** Adds recipient domains, most deferred recipients first, to a finding about deferred mail. */
export const withDomains = (seen: Observed, domains: readonly string[]): Observed => ({
  ...seen,
  params: { ...seen.params, ...placesOf(domains) },
})

function refusalsOf(steps: readonly Step[], periods: Periods, { hours }: Share): { readonly code: string } {
  const counts = refusalCounts(sumOf(steps, hours === 1 ? periods.hour : periods.day, isProject))
  const [most] = [...counts].toSorted(([, a], [, b]) => b - a)
  return { code: most?.[0] ?? '' }
}

/** Returns refused requests by code, of all entry points. */
export const refusalCounts = (project: Counts): ReadonlyMap<string, number> =>
  new Map([...project].flatMap(([name, times]) => (name.length > 1 && name.startsWith(refusedLetter) ? [[name.slice(1), times]] : [])))

/** Returns the destinations that accepted no recipient within the quarter of an hour. */
function failingOf(steps: readonly Step[], { quarter }: Periods): readonly string[] {
  const recent = steps.filter(({ from, subject }) => from >= quarter && isDestination(subject))
  const tried = recent.filter(({ counts }) => of(counts, recipientNames.failed) + of(counts, recipientNames.deferred) > 0)
  return [...new Set(tried.map(({ subject }) => subject))].toSorted().slice(0, maxNamed)
}

/** Ends with the first accepted recipient, or after a day without attempts. */
function allFailingCondition({ project, steps, periods }: ProjectFigures): Condition[] {
  const kind = 'mail.all_failing'
  const recent = sumOf(steps, periods.quarter, isDestination)
  if (of(recent, recipientNames.taken) > 0) return []
  const deferred = of(recent, recipientNames.deferred) - of(recent, retryNames.deferred)
  // a recipient that was deferred and failed at a retry is one
  const lost = of(recent, recipientNames.failed) + Math.max(0, deferred - of(recent, retryNames.failed))
  if (lost >= allFailing) {
    const params = { project: project.name, count: lost, destinationIds: failingOf(steps, periods).join(' ') }
    return [observedAs(undefined, kind, project.id, params, project.id)]
  }
  const today = sumOf(steps, periods.day, isDestination)
  const isIdle = (['taken', 'failed', 'deferred'] as const).every((fate) => of(today, recipientNames[fate]) === 0)
  return isIdle ? [] : [{ kind, subject: project.id }]
}
