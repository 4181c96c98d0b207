/** The sentence about outgoing mail on the overview, and the line below it. Problems come from the findings of the service. Pure. */
import { destinationOf, inOrder } from '../findings/finding-order.ts'
import type { DeliveryInsight, Destination, DestinationInsight, Finding, SendInsight } from '../wire/api.d.ts'

/** Step length of the figures. */
export const stepSeconds = 1800
/** The last hour and the current step. */
const stepsOfHour = 3

export interface Situation {
  readonly findings: readonly Finding[]
  readonly destinations: readonly Destination[]
  /** Figures of the last week by destination. Without them, every live destination counts as used. */
  readonly week: DestinationInsight | undefined
  /** Figures of the last day, in steps of `stepSeconds`. */
  readonly day: DeliveryInsight
  readonly sends: SendInsight
  /** Whether no provider has ever accepted a message. */
  readonly isFirst: boolean
}

export type Sentence =
  | { readonly says: 'nothing' | 'captured' | 'first' | 'quiet' | 'all' }
  /** Names of the projects whose mail no provider accepts, while mail of other projects is accepted. */
  | { readonly says: 'exceptProjects'; readonly projects: readonly string[] }
  /** Live destinations that do not deliver, paused ones first. */
  | { readonly says: 'except'; readonly destinations: readonly Destination[] }
  /** Time since which the oldest message is due. */
  | { readonly says: 'late'; readonly since: number }

const outcomes = ['relayed', 'captured_sandbox_destination', 'captured_anonymous_project', 'refused'] as const

export function sentenceOf(situation: Situation): Sentence {
  const { findings, week, day, sends, isFirst } = situation
  const live = liveOf(situation)
  const isPaused = ofDestinations(findings, isResting)
  const isTroubled = ofDestinations(findings, ({ kind, severity }) => kind.startsWith('destination.') && severity === 'error')
  const used = live.filter(({ id }) => week?.data.some((row) => row.destination_id === id && row.totals.attempts > 0) ?? true)
  if (live.length === 0 ? !isFirst : used.length > 0 && used.every(isPaused)) return { says: 'nothing' }
  if (findings.some(isUnrouted) && isCaptured(sends)) return { says: 'captured' }
  const failing = findings.filter(({ kind }) => kind === 'mail.all_failing')
  if (failing.length > 0 && !isAcceptedSince(day, failing)) return { says: 'nothing' }
  const troubled = live.filter(isTroubled).toSorted((a, b) => Number(isPaused(b)) - Number(isPaused(a)))
  if (troubled.length > 0) return { says: 'except', destinations: troubled }
  if (failing.length > 0) return { says: 'exceptProjects', projects: failing.map(({ params }) => String(params['project'])) }
  const since = findings.filter(isLate).map(({ params, opened_at: at }) => Number(params['sinceAt'] ?? Date.parse(at)))
  if (since.length > 0) return { says: 'late', since: Math.min(...since) }
  if (isFirst) return { says: 'first' }
  return { says: messagesOf(sends) === 0 && isWithoutAttempt(day) ? 'quiet' : 'all' }
}

/** The line below the sentence. `figures` are the messages of the day and the queue. */
export type Effect =
  | { readonly says: 'figures' | 'sandbox' }
  /** Messages that wait for paused destinations. */
  | { readonly says: 'waiting'; readonly count: number; readonly destinations: number; readonly isRestOnTime: boolean }
  /** Messages without a routing rule. */
  | { readonly says: 'unrouted'; readonly count: number }

/** Returns the effect of the problem in the sentence. */
export function effectOf(situation: Situation, { says }: Sentence): Effect {
  const { findings } = situation
  const live = liveOf(situation)
  if (live.length === 0) return { says: 'sandbox' }
  if (says === 'captured') return { says: 'unrouted', count: sumOf(findings.filter(isUnrouted), 'captured') }
  const resting = findings.filter((one) => isResting(one) && live.some(({ id }) => id === destinationOf(one)))
  const count = sumOf(resting, 'waiting')
  if ((says !== 'nothing' && says !== 'except') || count === 0) return { says: 'figures' }
  const isRestOnTime =
    says === 'except' && !inOrder(findings).some((one) => isLate(one) || /^mail\.(?:deferred|all_failing)$/.test(one.kind))
  return { says: 'waiting', count, destinations: resting.length, isRestOnTime }
}

const isResting = ({ kind }: Finding): boolean => kind === 'destination.resting'
const isUnrouted = ({ kind }: Finding): boolean => kind === 'route.missing'
const isLate = ({ kind }: Finding): boolean => kind === 'queue.late'
const liveOf = ({ destinations }: Situation): readonly Destination[] => destinations.filter(({ mode }) => mode === 'live')

const sumOf = (findings: readonly Finding[], name: string): number =>
  findings.reduce((sum, { params }) => sum + Number(params[name] ?? 0), 0)

/** Returns the number of messages accepted within the last day. */
export const messagesOf = ({ totals }: SendInsight): number =>
  totals.relayed + totals.captured_sandbox_destination + totals.captured_anonymous_project + totals.captured_no_route

const isWithoutAttempt = ({ totals }: DeliveryInsight): boolean => totals.taken + totals.failed + totals.deferred === 0

/** Whether a provider accepted mail after the latest of these findings opened, in the last two steps. */
function isAcceptedSince({ points, step_seconds: seconds }: DeliveryInsight, findings: readonly Finding[]): boolean {
  const latest = Math.max(...findings.map(({ opened_at: at }) => Date.parse(at)))
  return points.slice(-2).some(({ at, taken }) => taken > 0 && Date.parse(at) + seconds * 1000 > latest)
}

/** Whether all sends of the last hour were captured for lack of a routing rule. */
function isCaptured({ points }: SendInsight): boolean {
  const hour = points.slice(-stepsOfHour)
  const captured = hour.some((point) => point.captured_no_route > 0)
  return captured && hour.every((point) => outcomes.every((outcome) => point[outcome] === 0))
}

function ofDestinations(findings: readonly Finding[], fits: (finding: Finding) => boolean): (destination: Destination) => boolean {
  const ids = new Set(findings.filter((one) => fits(one)).map(destinationOf))
  return ({ id }) => ids.has(id)
}
