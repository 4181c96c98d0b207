/** Conditions of routing: mail without a rule, and destinations that fail. Pure. */
import { failing } from '#config/watch/limits.ts'
import type { FindingParams } from '../../findings/finding.ts'
import { attemptNames, projectNames } from '../../insights/count.ts'
import { ofProject } from '../../insights/levels.ts'
import type { Destination } from '../../routing/destination.ts'
import { observedAs, type Condition } from '../condition.ts'
import { bySubject, sumOf, type Step } from '../reading/steps.ts'
import { percentOf, refusalCounts, type ProjectFigures } from './mail.ts'

/** Mail without a rule is an error for this time after a promotion: the new destination does not get it. Later it can be intended. */
const promotedMs = 7 * 86_400_000

interface Unrouted {
  /** Without messages that every route captures. */
  readonly captured: number
  readonly refused: number
}

/** Of a project whose mail always has a route, also if earlier mail had none. */
export const nothingUnrouted: Unrouted = { captured: 0, refused: 0 }

/** Returns the messages within a day that matched no rule. */
export function unroutedOf({ steps, periods }: Pick<ProjectFigures, 'steps' | 'periods'>): Unrouted {
  const counts = sumOf(steps, periods.day, (subject) => subject === ofProject)
  const of = (name: string): number => counts.get(name) ?? 0
  return {
    captured: Math.max(0, of(projectNames['captured.no_route']) - of(projectNames.capturedByCause)),
    refused: refusalCounts(counts).get('no_route') ?? 0,
  }
}

/** Mail that matches no rule is captured or refused, though a live destination exists. `domains`: of its senders, most messages first. */
export function routeConditions(
  { project }: Pick<ProjectFigures, 'project'>,
  { captured, refused }: Unrouted,
  domains: readonly string[],
  destinations: readonly Destination[],
  now: number,
): readonly Condition[] {
  const live = destinations.filter(({ mode }) => mode === 'live')
  if (live.length === 0 || captured + refused === 0) return []
  const params = {
    ...{ project: project.name, count: captured + refused, captured, refused },
    ...{ domain: domains[0] ?? 'none', more: Math.max(0, domains.length - 1) },
    ...onlyDestination(live),
  }
  const isPromoted = live.some(({ liveAt = -Infinity }) => now - liveAt < promotedMs)
  return [observedAs(isPromoted ? 'error' : 'warning', 'route.missing', project.id, params, project.id)]
}

/** Identifies the destination if the project can route all mail there. */
function onlyDestination([only, ...others]: readonly Destination[]): FindingParams {
  if (!only || others.length > 0) return { destination: 'several' }
  return { destination: only.name, destinationId: only.id, scope: only.shared === undefined ? 'project' : 'org' }
}

/** Destinations that fail most attempts of the project within an hour, also the latest ones: a repaired destination no longer fails. */
export function destinationConditions(
  { project, steps, periods }: ProjectFigures,
  destinations: readonly Destination[],
): readonly Condition[] {
  const ofSubjects = bySubject(steps)
  return destinations.flatMap(({ id, name, mode, projectId }): Condition[] => {
    const own = (ofSubjects.get(id) ?? []).filter(({ from }) => from >= periods.hour)
    const { attempts, failed } = attemptsOf(own)
    if (mode !== 'live' || !isFailing({ attempts, failed }) || !isFailing(latest(own))) return []
    const subject = projectId === project.id ? id : `${id}/${project.id}`
    const params = { destination: name, destinationId: id, failed, attempts, percent: percentOf(failed, attempts) }
    return [observedAs(undefined, 'destination.failing', subject, params, project.id)]
  })
}

interface Attempts {
  readonly attempts: number
  readonly failed: number
}

const isFailing = ({ attempts, failed }: Attempts): boolean => attempts >= failing.attempts && failed >= failing.share * attempts

function attemptsOf(steps: readonly Step[]): Attempts {
  const counts = sumOf(steps, -Infinity, () => true)
  return { attempts: counts.get(attemptNames.attempts) ?? 0, failed: counts.get(attemptNames.errors) ?? 0 }
}

/** Returns the attempts of the newest steps that have enough of them. */
function latest(steps: readonly Step[]): Attempts {
  const newest = steps.toReversed()
  for (let many = 1; many < newest.length; many++) {
    const sum = attemptsOf(newest.slice(0, many))
    if (sum.attempts >= failing.attempts) return sum
  }
  return attemptsOf(steps)
}
