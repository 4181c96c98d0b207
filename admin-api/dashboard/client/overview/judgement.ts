/** Decides whether mail is fine, from counters only. Lists problems by severity. */
import { isTooMuch, lateMs, type Watched } from '#config/watch/limits.ts'
import type { DeliveryInsight, SendInsight } from '../wire/operations.ts'

export interface Figures {
  /** Figures of the last day, in steps of `stepSeconds`. */
  readonly delivery: DeliveryInsight
  readonly sends: SendInsight
  /** Time of the first due attempt of the oldest queued message. Null for an empty queue. */
  readonly waitingSince: string | null
}

/** A part of all items within a number of hours. */
export interface Share {
  readonly what: Watched
  readonly some: number
  readonly all: number
  readonly hours: 1 | 24
}

/** Step length of the figures. */
export const stepSeconds = 900
/** The last hour and the current step. */
const stepsOfHour = 5

type Delivery = Omit<DeliveryInsight['totals'], 'delivered'>
type Sends = Pick<SendInsight['totals'], (typeof sent)[number] | 'refused'>
const sent = ['relayed', 'captured_sandbox_destination', 'captured_no_route', 'captured_anonymous_project'] as const

const sum = <P>(points: readonly P[], field: keyof P): number => points.reduce((total, point) => total + Number(point[field]), 0)

/** Returns the sums of the last hour. */
export function lastHour({ delivery, sends }: Figures): Delivery & Sends {
  const [mail, asked] = [delivery.points.slice(-stepsOfHour), sends.points.slice(-stepsOfHour)]
  const fates = ['taken', 'failed', 'deferred', 'bounced', 'complained'] as const
  const outcomes = [...sent, 'refused'] as const
  return Object.fromEntries([
    ...fates.map((field) => [field, sum(mail, field)] as const),
    ...outcomes.map((field) => [field, sum(asked, field)] as const),
  ]) as Delivery & Sends
}

/** Returns all watched shares. Of bounces and failures, which overlap, it returns the larger. */
function sharesOf({ taken, failed, deferred, bounced, complained, ...sends }: Delivery & Sends, hours: 1 | 24): readonly Share[] {
  const ended = taken + failed
  const asked = sends.refused + sent.reduce((total, outcome) => total + sends[outcome], 0)
  const lost = bounced >= failed ? (['bounced', bounced] as const) : (['failed', failed] as const)
  return [
    { what: lost[0], some: lost[1], all: ended, hours },
    { what: 'deferred', some: deferred, all: ended + deferred, hours },
    { what: 'complained', some: complained, all: ended, hours },
    { what: 'refused', some: sends.refused, all: asked, hours },
  ]
}

/** Returns excessive shares of the last hour, followed by other excessive shares of the last day. */
export function alarming(figures: Figures): readonly Share[] {
  const tooMuch = (shares: readonly Share[]): readonly Share[] => shares.filter(({ what, some, all }) => isTooMuch(what, some, all))
  const now = tooMuch(sharesOf(lastHour(figures), 1))
  const named = new Set(now.map(({ what }) => what))
  const before = tooMuch(sharesOf({ ...figures.delivery.totals, ...figures.sends.totals }, 24))
  return [...now, ...before.filter(({ what }) => !named.has(what))]
}

/** Returns the lost share of the last hour. Undefined without losses. */
export function lostInHour(figures: Figures): Share | undefined {
  const [lost] = sharesOf(lastHour(figures), 1)
  return lost && lost.some > 0 ? lost : undefined
}

/** Returns the waiting time of the oldest message in milliseconds. Undefined unless it is late. */
export function lateBy({ waitingSince }: Figures, now: number): number | undefined {
  const waited = waitingSince === null ? 0 : now - Date.parse(waitingSince)
  return waited >= lateMs ? waited : undefined
}

/** Whether the last day had no delivery attempt. */
export const isQuiet = ({ delivery: { totals } }: Figures): boolean => totals.taken + totals.failed + totals.deferred === 0
