/**
 * Simulates a message: runs the checks of `accept` in the same order and with the same functions, each as a step. Reads counters and writes
 * nothing. Add every new check of `accept` to `walk` at the same position.
 */
import { Change } from '#store/change.ts'
import { keyName } from '#store/tuple.ts'
import { skipDestination, type FailoverHealth } from '../../delivery/attempt/failover.ts'
import type { MailingList } from '../../feedback/suppression/opt-out.ts'
import type { Hit } from '../../feedback/suppression/suppressed-recipients.ts'
import { Refusal, type RefusalCode } from '../../refusals.ts'
import { matchRoute, type Route, type RuleLook } from '../../routing/match/match.ts'
import { decideOutcome, type Decision } from '../../routing/match/outcome.ts'
import type { Policy } from '../../routing/policy/policy.ts'
import type { Project } from '../../tenancy/organization.ts'
import type { Outcome } from '../../trace/trace.ts'
import { passGates, type Candidate, type Sendable } from '../accept/accept-gates.ts'
import { questionOf, type Routable } from '../submission.ts'

/** One check. `decided` settles the outcome; `refused` ends the walk. */
export interface SimulationStep {
  readonly step:
    | 'smtp_credential'
    | 'sender'
    | 'named_destination'
    | 'rule'
    | 'project_environment'
    | 'org_default'
    | 'project_status'
    | 'destination_mode'
    | 'no_route_policy'
    | 'limits'
    | 'suppressions'
    | 'failover'
  readonly result: 'passed' | RuleLook['found'] | 'decided' | 'refused' | 'withheld' | 'passed_over'
  /** A sentence for people. */
  readonly message: string
  readonly ruleId?: string | undefined
  readonly destinationId?: string | undefined
  /** Machine-readable subject of the message, for callers with their own wording: refusal, limit, kind of suppression or cause. */
  readonly code?: string | undefined
  /** Current use of a limit, and the limit. */
  readonly used?: number | undefined
  readonly limit?: number | undefined
  /** Address that the step concerns. */
  readonly address?: string | undefined
  /** Delay of the first attempt, in milliseconds. */
  readonly waitMs?: number | undefined
}

/** Fields of a message that the simulation reads. */
export type Sketch = Routable & Sendable & { readonly list?: MailingList | undefined }

/** Result of the checks so far. After a refusal, the fields of later checks are undefined. */
export interface Walk {
  readonly steps: SimulationStep[]
  route?: Route
  decision?: Decision
  /** Suppressed recipients by address, with the suppression entry. */
  suppressed?: ReadonlyMap<string, Hit>
  /** Destination of the first delivery attempt, and its delay in milliseconds. */
  firstAttempt?: { readonly destinationId: string; readonly waitMs: number }
  refusal?: Refusal
  /** Counters that the send would increase, by key name; empty if it is refused. */
  counted?: ReadonlyMap<string, number>
}

/** Settings and state that the checks read. */
export interface Ground {
  readonly policy: Policy
  readonly project: Project
  readonly limits: Pick<Candidate, 'nowMs' | 'maxRecipients' | 'maxMessageBytes' | 'previousMinute'>
  readonly counter: (key: Uint8Array) => Promise<number>
  /** Returns the active suppression entries for the addresses. */
  readonly suppressionsOf: (addresses: readonly string[]) => Promise<ReadonlyMap<string, Hit>>
  readonly health: FailoverHealth
}

/** Step that decides each outcome. */
const decidedBy: Readonly<Record<Outcome, SimulationStep['step']>> = {
  'captured.anonymous_project': 'project_status',
  'captured.sandbox_destination': 'destination_mode',
  relayed: 'destination_mode',
  'captured.no_route': 'no_route_policy',
}

/** Names of the limits in the messages of steps. */
const countedAs: Partial<Record<RefusalCode, string>> = {
  rate_limit_exceeded: 'messages that this SMTP credential may still send in this minute',
  quota_exhausted_captures: 'captures that the project has in this month',
  quota_exceeded: 'sends that the plan includes in this day',
  quota_exhausted: 'sends that the plan has in this day',
  project_budget_exhausted: "sends of the project's budget of this day",
}

/** Adds steps to `walk` until all checks have run or a check refuses the message. */
export async function takeWalk(walk: Walk, submission: Sketch, ground: Ground): Promise<void> {
  const route = attempt(walk, 'named_destination', () => routeOf(walk, submission, ground))
  if (!route) return
  walk.route = route
  const decision = attempt(walk, 'no_route_policy', () => decideOutcome(ground.project, route))
  if (!decision) return
  walk.decision = decision
  const step = decidedBy[decision.outcome]
  if (step !== 'project_status') walk.steps.push({ step: 'project_status', result: 'passed', message: 'The project is claimed.' })
  walk.steps.push({ step, result: 'decided', message: decision.reason, destinationId: decision.destinationId ?? undefined })
  await lookAtLimits(walk, submission, ground, decision)
  if (walk.refusal || decision.outcome !== 'relayed') return
  walk.suppressed = await ground.suppressionsOf(submission.rcptTo)
  lookAtSuppressions(walk, submission.rcptTo, walk.suppressed)
  if (submission.rcptTo.some((address) => !walk.suppressed?.has(address))) lookAtFirstAttempt(walk, ground, decision)
}

/** Returns the result of `decide`. On a refusal, adds it as the last step and returns undefined. */
export function attempt<T>(walk: Walk, step: SimulationStep['step'], decide: () => T): T | undefined {
  try {
    return decide()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    refuse(walk, step, error)
    return undefined
  }
}

function refuse(walk: Walk, step: SimulationStep['step'], refusal: Refusal, bound: Bound = boundIn(refusal)): void {
  walk.refusal = refusal
  walk.steps.push({ step, result: 'refused', message: refusal.message, code: refusal.code, ...bound })
}

type Bound = Pick<SimulationStep, 'used' | 'limit'>

/** Reads use and limit from the details of a refusal. */
function boundIn({ details = {} }: Refusal): Bound {
  const { recipients, recipients_max: maxRecipients, message_bytes: size, message_bytes_max: maxSize } = details
  const [used, limit] = [recipients ?? size, maxRecipients ?? maxSize]
  return typeof used === 'number' && typeof limit === 'number' ? { used, limit } : {}
}

function routeOf({ steps }: Walk, submission: Sketch, { policy, health }: Ground): Route {
  const route = matchRoute(policy, questionOf(submission), health, ({ rule, found, message, destination }) =>
    steps.push({ step: 'rule', result: found, message, ruleId: rule.id, destinationId: rule.destinationId ?? destination?.id }),
  )
  const { by, reason } = route
  const destinationId = route.destination?.id
  if (by === 'request' || by === 'credential') steps.push({ step: 'named_destination', result: 'matched', message: reason, destinationId })
  if (by === 'project') steps.push({ step: 'project_environment', result: 'matched', message: reason, destinationId })
  if (by === 'org_default') steps.push({ step: 'org_default', result: 'matched', message: reason, destinationId })
  if (by === 'none') steps.push({ step: 'org_default', result: 'not_matched', message: 'The organization has no default sender.' })
  return route
}

/** Runs the gates on a change that is discarded, and compares its bounded counters with their current values. */
async function lookAtLimits(walk: Walk, submission: Sketch, ground: Ground, decision: Decision): Promise<void> {
  const { policy, project, limits, counter } = ground
  const change = new Change()
  const { organization } = policy
  const refusals = attempt(walk, 'limits', () => passGates({ submission, organization, project, decision, ...limits }, change))
  if (!refusals) return
  for (const { key, delta, limit } of change.adds) {
    const refusal = refusals.get(keyName(key))
    if (limit === undefined || !refusal) continue
    const used = await counter(key)
    const { code } = refusal
    if (used + delta > limit) return refuse(walk, 'limits', refusal, { used, limit })
    const message = `${used} of ${limit} ${countedAs[code] ?? code} are used.`
    walk.steps.push({ step: 'limits', result: 'passed', message, code, used, limit })
  }
  walk.counted = new Map(change.adds.map(({ key, delta }) => [keyName(key), delta]))
  if (walk.steps.at(-1)?.step !== 'limits') walk.steps.push({ step: 'limits', result: 'passed', message: 'No limit is reached.' })
}

function lookAtSuppressions({ steps }: Walk, rcptTo: readonly string[], hits: ReadonlyMap<string, Hit>): void {
  for (const [address, { source, reason }] of hits) {
    const why = reason === null ? source : `${source}: ${reason}`
    const message = source === 'unsubscribe' ? `${address} is skipped: ${why}` : `${address} is suppressed (${why}) and is skipped.`
    steps.push({ step: 'suppressions', result: 'withheld', message, code: source, address })
  }
  if (hits.size > 0) return
  const who = rcptTo.length === 1 ? 'The recipient is not' : 'No recipient is'
  steps.push({ step: 'suppressions', result: 'passed', message: `${who} suppressed.` })
}

/** Checks the first destination as delivery does: skips it while its circuit breaker is open or it is slow, or delays the message. */
function lookAtFirstAttempt(walk: Walk, { policy, project, health }: Ground, { destinationId }: Decision): void {
  const here = policy.destinations.get(destinationId ?? '')
  if (!here) return
  const skip = skipDestination(policy, health, { projectId: project.id, destinationId }, here)
  if (!skip) {
    walk.firstAttempt = { destinationId: here.id, waitMs: 0 }
    walk.steps.push({
      step: 'failover',
      result: 'passed',
      message: `The destination ${here.name} receives mail now.`,
      destinationId: here.id,
    })
  } else if ('failover' in skip) {
    const { to, note } = skip.failover
    walk.firstAttempt = { destinationId: to, waitMs: 0 }
    walk.steps.push({ step: 'failover', result: 'passed_over', message: note.message, destinationId: to, code: note.cause })
  } else {
    const { to, waitMs } = skip
    const message = `The circuit breaker of the destination is open, and no fallback is available: the message waits ${Math.ceil(waitMs / 1000)} seconds.`
    walk.firstAttempt = { destinationId: to, waitMs }
    walk.steps.push({ step: 'failover', result: 'passed_over', message, destinationId: to, waitMs })
  }
}
