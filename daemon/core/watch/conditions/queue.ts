/** Conditions of the queue of a project. Pure. */
import { lateMs } from '#config/watch/limits.ts'
import type { Project } from '../../tenancy/organization.ts'
import { observedAs, type Condition } from '../condition.ts'
import type { Waiting } from '../reading/queue.ts'

const heldMs = 24 * 3_600_000
/** Interval of looks at a project with waiting mail, because a hold is not counted. */
const lookMs = 600_000

export function queueConditions(
  { id, name }: Pick<Project, 'id' | 'name'>,
  waiting: readonly Waiting[],
  isPaused: (destinationId: string) => boolean,
  now: number,
): readonly Condition[] {
  if (waiting.length === 0) return []
  const due = waiting.flatMap((one) => (isPaused(one.destinationId) ? [] : one.due))
  const late = due.filter((at) => now - at >= lateMs)
  const oldest = Math.min(...due)
  const heldSince = Math.min(...waiting.map((one) => one.heldSince ?? Infinity))
  const ripe = [late.length === 0 ? oldest + lateMs : Infinity, heldSince + heldMs].filter((at) => at > now)
  const conditions = [...lateCondition({ id, name }, late, oldest, now), ...heldCondition({ id, name }, waiting, heldSince, now)]
  return [...conditions, { lookAt: Math.min(now + lookMs, ...ripe) }]
}

/** A paused destination explains its late mail by itself. */
function lateCondition({ id, name }: Pick<Project, 'id' | 'name'>, late: readonly number[], oldest: number, now: number): Condition[] {
  if (late.length === 0) return []
  const params = { project: name, count: late.length, minutes: Math.floor((now - oldest) / 60_000), sinceAt: oldest }
  return [observedAs(undefined, 'queue.late', id, params, id)]
}

function heldCondition({ id, name }: Pick<Project, 'id' | 'name'>, waiting: readonly Waiting[], since: number, now: number): Condition[] {
  if (now - since < heldMs) return []
  const count = waiting.reduce((sum, { held }) => sum + held, 0)
  return [observedAs(undefined, 'queue.held', id, { project: name, count, sinceAt: since }, id)]
}
