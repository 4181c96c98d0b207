/** Conditions of routing: mail without a rule, and destinations that fail. Pure. */
import { failing } from '#config/watch/limits.ts'
import { attemptNames, projectNames } from '../../insights/count.ts'
import { ofProject } from '../../insights/levels.ts'
import type { Destination } from '../../routing/destination.ts'
import { observedAs, type Condition } from '../condition.ts'
import { sumOf } from '../reading/steps.ts'
import { percentOf, refusalCounts, type ProjectFigures } from './mail.ts'

/** Mail that matches no rule is captured or refused, though a live destination exists. */
export function routeConditions({ project, steps, periods }: ProjectFigures, destinations: readonly Destination[]): readonly Condition[] {
  const live = destinations.filter(({ mode }) => mode === 'live')
  const counts = sumOf(steps, periods.day, (subject) => subject === ofProject)
  const captured = counts.get(projectNames['captured.no_route']) ?? 0
  const refused = refusalCounts(counts).get('no_route') ?? 0
  if (live.length === 0 || captured + refused === 0) return []
  const params = { project: project.name, captured, refused, destination: live.length === 1 ? (live[0]?.name ?? '') : 'several' }
  return [observedAs(undefined, 'route.missing', project.id, params, project.id)]
}

/** Destinations that fail most attempts of the project within an hour. */
export function destinationConditions(
  { project, steps, periods }: ProjectFigures,
  destinations: readonly Destination[],
): readonly Condition[] {
  return destinations.flatMap(({ id, name, mode, projectId }): Condition[] => {
    const counts = sumOf(steps, periods.hour, (subject) => subject === id)
    const [attempts, failed] = [counts.get(attemptNames.attempts) ?? 0, counts.get(attemptNames.errors) ?? 0]
    if (mode !== 'live' || attempts < failing.attempts || failed < failing.share * attempts) return []
    const subject = projectId === project.id ? id : `${id}/${project.id}`
    const params = { destination: name, destinationId: id, failed, attempts, percent: percentOf(failed, attempts) }
    return [observedAs(undefined, 'destination.failing', subject, params, project.id)]
  })
}
