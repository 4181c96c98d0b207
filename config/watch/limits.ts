/** Limits at which mail is in danger, shared by the findings of the service, the figures of the dashboard and the lines of its plots. */

/** Limits for shares of recipients, in percent. Mailbox providers notice a sender above `warn` and reject mail above `bad`. */
export const rateLimits = { bounced: { warn: 2, bad: 5 }, complained: { warn: 0.1, bad: 0.3 } } as const

/** Minimum count and minimum share; both must be reached. */
interface Limit {
  readonly count: number
  /** From 0 to 1. */
  readonly share: number
}

/** Limits of each watched share. The second limit applies to small numbers, where a small share means little. */
const tooMuch = {
  bounced: [
    { count: 5, share: rateLimits.bounced.bad / 100 },
    { count: 2, share: 0.5 },
  ],
  failed: [
    { count: 5, share: 0.05 },
    { count: 2, share: 0.5 },
  ],
  deferred: [
    { count: 20, share: 0.25 },
    { count: 3, share: 0.6 },
  ],
  complained: [{ count: 2, share: rateLimits.complained.bad / 100 }],
  refused: [
    { count: 20, share: 0.25 },
    { count: 5, share: 0.5 },
  ],
} as const satisfies Readonly<Record<string, readonly Limit[]>>
export type Watched = keyof typeof tooMuch

/** Lower limits, from which a share is a warning. */
const early: Readonly<Partial<Record<Watched, Limit>>> = {
  bounced: { count: 5, share: rateLimits.bounced.warn / 100 },
  complained: { count: 2, share: rateLimits.complained.warn / 100 },
}

const reaches = (some: number, all: number, { count, share }: Limit): boolean => some >= count && some >= share * all

export const isTooMuch = (what: Watched, some: number, all: number): boolean => tooMuch[what].some((limit) => reaches(some, all, limit))

/** Returns whether the share reaches its lower limit, if it has one. */
export function isNearlyTooMuch(what: Watched, some: number, all: number): boolean {
  const limit = early[what]
  return limit !== undefined && reaches(some, all, limit)
}

/** A percentage of fewer recipients says little. */
export const percentFrom = 50

/** Waiting time in milliseconds after which a message is late. */
export const lateMs = 3_600_000

/** Minimum attempts and share of failed attempts at which a destination counts as failing. */
export const failing = { attempts: 3, share: 0.5 } as const
