/**
 * Decides on the next message of a channel and the time of its next look. Pure. A message lists findings that the channel has not got
 * yet. The result is written with the message, so that no finding is sent twice.
 */
import type { Finding } from '../findings/finding.ts'
import { factsOf, severities, type FindingGroup, type Severity } from '../findings/kinds.ts'
import { Causes, concerns, isReplacement, isTrouble, type FindingToTell } from './causes.ts'
import { quietUntil, type QuietHours } from './quiet-hours.ts'

/** The settings of a channel that select its findings. */
export interface PlannedChannel {
  readonly id: string
  /** Empty for all findings of the organization. */
  readonly projectId: string
  readonly minSeverity: 'error' | 'warning'
  /** Empty means all. */
  readonly groups: readonly FindingGroup[]
  /** Above 0, the channel gets only errors that were not acknowledged within this time. */
  readonly afterMinutes: number
  readonly quietHours: QuietHours | null
}

/** The mark of a finding that was sent to a channel. */
export type Mark = Finding['notified'][string]

export interface PlanInput {
  /** Open findings of the organization, and findings that ended within the last day. */
  readonly findings: readonly FindingToTell[]
  readonly channel: PlannedChannel
  /** Times of the messages of the last hour, in order. */
  readonly sentAt: readonly number[]
  /** Another channel of the organization fails, so that this one takes over without `afterMinutes`. */
  readonly replaces: boolean
}

export interface Message {
  /** Errors first, then in the order of their beginning. */
  readonly open: readonly Finding[]
  /** Number of further open findings that the message counts only. */
  readonly more: number
  readonly over: readonly Finding[]
  readonly moreOver: number
}

export interface Plan {
  readonly message: Message | undefined
  /** New marks of the told findings, by finding id. */
  readonly notified: ReadonlyMap<string, Mark>
  /** Time of the next look; null if nothing is expected. */
  readonly nextMs: number | null
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/**
 * Waiting time of a finding before its message, so that short faults and several findings of one fault need one message at most. Longer for
 * errors than the interval of quick checks, so that a second look can end the finding.
 */
const waitMs: Readonly<Record<Severity, number>> = { error: 40 * second, warning: 5 * minute, notice: Infinity }
/** Waiting time of a destination that fails while other mail is accepted: retries can show in this time that the fault was short. */
const partialWaitMs = 3 * minute
/** Waiting time of a paused destination, whose breaker can close after the next attempt. */
const restingWaitMs = 5 * minute
const overWaitMs = 10 * minute
/** An error that persists is repeated after this time. */
const repeatMs = 24 * hour
/** The same for a finding that returned after the message of its end. A fault that comes and goes stays open for the channel. */
const overAgainWaitMs = hour
const apartMs = minute
const mostAnHour = 12
const maxListed = 10
/** Times that are later than now by more than this were written before the clock was set back. */
export const skewMs = 5 * minute

export function plan({ findings, channel, sentAt, replaces }: PlanInput, now: number): Plan {
  const past = new Map(findings.map((finding) => [finding, withoutFuture(finding, channel.id, now)]))
  const context = contextOf({ channel, replaces }, [...past.values()])
  const moments = [...past].flatMap(([finding, seen]) => {
    const moment = momentOf(seen, seen.notified[channel.id], context)
    return moment ? [{ finding, ...moment, ...delayed(moment, finding, channel, now) }] : []
  })
  const freeMs = freeFrom(sentAt, now)
  const isDue = moments.some(({ ripeMs }) => ripeMs <= now)
  if (!isDue || freeMs > now) return { message: undefined, notified: new Map(), nextMs: nextOf(moments, freeMs) }
  const chosen = moments.filter(({ finding, eligibleMs, ripeMs }) => (finding.state === 'open' ? eligibleMs : ripeMs) <= now)
  const [open, over] = sides(chosen.map(({ finding }) => finding))
  const notified = new Map([
    ...open.map(({ id, severity, notified: before }) => [id, { at: now, severity, ...hasReturned(before[channel.id]) }] as const),
    ...over.map(({ id, notified: before }) => [id, { ...(before[channel.id] as Mark), overAt: now }] as const),
  ])
  const later = [...past.values()].flatMap((seen) => {
    const moment = momentOf(seen, notified.get(seen.id) ?? seen.notified[channel.id], context)
    return moment ? [{ ...moment, ...delayed(moment, seen, channel, now) }] : []
  })
  return { message: messageOf([...open, ...over]), notified, nextMs: nextOf(later, freeFrom([...sentAt, now], now)) }
}

/** Returns the part of a mark that remembers an earlier message of the end. */
const hasReturned = (before: Mark | undefined): Pick<Mark, 'returned'> =>
  before?.overAt === undefined && before?.returned === undefined ? {} : { returned: true }

/** Returns the message that tells these findings. */
export function messageOf(findings: readonly Finding[]): Message {
  const [open, over] = sides(findings)
  return {
    ...{ open: open.slice(0, maxListed), more: Math.max(0, open.length - maxListed) },
    ...{ over: over.slice(0, maxListed), moreOver: Math.max(0, over.length - maxListed) },
  }
}

/** Returns the open and the ended findings, each in order. */
const sides = (findings: readonly Finding[]): readonly [open: Finding[], over: Finding[]] => [
  inOrder(findings.filter(({ state }) => state === 'open')),
  inOrder(findings.filter(({ state }) => state === 'over')),
]

/** Returns the time at which a changed finding can cause a message; null if it causes none by itself. */
export function dueAfterChange(finding: Finding, channel: PlannedChannel, replaces: boolean, now: number): number | null {
  const seen = withoutFuture(finding, channel.id, now)
  const own = momentOf(seen, seen.notified[channel.id], contextOf({ channel, replaces }, []))
  // the end of an error of a destination frees the findings that followed from it
  const freed = finding.state === 'over' && isTrouble(finding) ? now + waitMs.error : Infinity
  const replacedOver = finding.state === 'over' && isReplacement(finding) ? now + overWaitMs : Infinity
  const dueMs = Math.min(own?.ripeMs ?? Infinity, freed, replacedOver)
  return dueMs === Infinity ? null : Math.max(now, dueMs)
}

/** Returns the finding with times of a clock that was set back since as times long past, so that no message waits for them. */
function withoutFuture(finding: FindingToTell, channelId: string, now: number): FindingToTell {
  const past = (ms: number): number => (ms > now + skewMs ? 0 : ms)
  const { openedAt, changedAt, overAt, notified } = finding
  const mark = notified[channelId]
  if (Math.max(openedAt, changedAt, overAt ?? 0, mark?.at ?? 0, mark?.overAt ?? 0) <= now + skewMs) return finding
  return {
    ...{ ...finding, openedAt: past(openedAt), changedAt: past(changedAt), overAt: overAt === null ? null : past(overAt) },
    ...(mark && {
      notified: {
        ...notified,
        [channelId]: { ...mark, at: past(mark.at), ...(mark.overAt !== undefined && { overAt: past(mark.overAt) }) },
      },
    }),
  }
}

/** `eligibleMs`: a message may contain the finding. `ripeMs`: it causes a message. */
interface Moment {
  readonly eligibleMs: number
  readonly ripeMs: number
}

interface Context {
  readonly channel: PlannedChannel
  readonly replaces: boolean
  readonly causes: Causes
}

const contextOf = ({ channel, replaces }: Pick<Context, 'channel' | 'replaces'>, findings: readonly FindingToTell[]): Context => ({
  ...{ channel, replaces },
  causes: new Causes(
    findings,
    (finding) => isInScope(finding, channel),
    ({ notified }) => notified[channel.id] !== undefined && notified[channel.id]?.overAt === undefined,
  ),
})

function momentOf(finding: Finding, mark: Mark | undefined, context: Context): Moment | undefined {
  if (finding.state === 'over') {
    if (!mark || mark.overAt !== undefined) return undefined
    const overMs = context.causes.overMs(finding)
    return overMs === Infinity ? undefined : at(overMs + (mark.returned ? overAgainWaitMs : overWaitMs))
  }
  if (!isInScope(finding, context.channel)) return undefined
  const escalatesMs = escalation(finding, context)
  const freedMs = context.causes.freedMs(finding)
  if (escalatesMs === undefined || freedMs === Infinity) return undefined
  const eligibleMs = Math.max(escalatesMs, freedMs, finding.mutedUntil ?? 0)
  if (mark && mark.overAt === undefined && !isWorse(finding.severity, mark.severity))
    return finding.severity === 'error' ? at(Math.max(eligibleMs, mark.at + repeatMs)) : undefined
  const ownMs = Math.max(finding.changedAt, freedMs) + waitOf(finding, context)
  const replacedMs = context.causes.replacedBy(finding).map((one) => one.changedAt + waitOf(one, context))
  const ripeMs = Math.max(eligibleMs, Math.min(ownMs, ...replacedMs))
  // no message of other findings tells a short pause
  return { eligibleMs: finding.kind === 'destination.resting' ? ripeMs : eligibleMs, ripeMs }
}

function waitOf(finding: Finding, { causes }: Context): number {
  if (finding.kind === 'destination.resting') return restingWaitMs
  return causes.isPartial(finding) ? partialWaitMs : waitMs[finding.severity]
}

const at = (ms: number): Moment => ({ eligibleMs: ms, ripeMs: ms })

function isInScope(finding: Finding, channel: PlannedChannel): boolean {
  const { kind, subject, severity } = finding
  if (kind === 'alerts.undeliverable' && subject === channel.id) return false
  if (channel.projectId !== '' && !concerns(finding, channel.projectId)) return false
  if (channel.groups.length > 0 && !channel.groups.includes(factsOf(kind).group)) return false
  const isErrorOnly = channel.minSeverity === 'error' || factsOf(kind).isAlertedAsErrorOnly === true
  return severity === 'error' || (severity === 'warning' && !isErrorOnly)
}

/** Returns from when the channel gets the finding; undefined if it never does. */
function escalation({ severity, acknowledged, openedAt }: Finding, { channel, replaces }: Context): number | undefined {
  if (channel.afterMinutes === 0 || replaces) return 0
  return severity === 'error' && acknowledged === null ? openedAt + channel.afterMinutes * minute : undefined
}

const isWorse = (severity: Severity, than: Severity): boolean => severities.indexOf(severity) < severities.indexOf(than)

/** Quiet hours delay everything but open errors. */
function delayed(moment: Moment, { state, severity }: Finding, { quietHours }: PlannedChannel, now: number): Moment {
  if (!quietHours || (state === 'open' && severity === 'error')) return moment
  const eligibleMs = quietUntil(quietHours, Math.max(now, moment.eligibleMs))
  const ripeMs = quietUntil(quietHours, Math.max(now, moment.ripeMs))
  return { eligibleMs: eligibleMs > now ? eligibleMs : moment.eligibleMs, ripeMs: ripeMs > now ? ripeMs : moment.ripeMs }
}

/** Returns from when the channel may get another message. */
function freeFrom(sentAt: readonly number[], now: number): number {
  const recent = sentAt.filter((ms) => ms > now - hour && ms <= now + skewMs)
  const [last = -Infinity] = recent.slice(-1)
  const first = recent.length < mostAnHour ? undefined : recent.at(-mostAnHour)
  return Math.max(last + apartMs, first === undefined ? -Infinity : first + hour)
}

function nextOf(moments: readonly Moment[], freeMs: number): number | null {
  const nextMs = Math.min(...moments.map(({ ripeMs }) => ripeMs))
  return nextMs === Infinity ? null : Math.max(nextMs, freeMs)
}

const inOrder = (findings: readonly Finding[]): Finding[] =>
  findings.toSorted(
    (a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity) || a.openedAt - b.openedAt || (a.id < b.id ? -1 : 1),
  )
