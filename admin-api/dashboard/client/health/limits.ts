/** From when on figures are a matter: the one place for the verdict of the overview, the figures under it, and the lines of the plots. */

/** A share of recipients that is watched, in percent: from `warn` on mailbox providers notice, from `bad` on they refuse the sender. */
export const rateLimits = { bounced: { warn: 2, bad: 5 }, complained: { warn: 0.1, bad: 0.3 } } as const

/** So much, by number and share at once. */
interface Limit {
  readonly count: number
  /** From 0 to 1. */
  readonly share: number
}

/** What is too much: of many, or else of few, of which a small share says nothing. */
export const tooMuch = {
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

export const isTooMuch = (what: Watched, some: number, all: number): boolean =>
  tooMuch[what].some(({ count, share }) => some >= count && some >= share * all)

/** A message that waits so long for its delivery, in milliseconds. */
export const lateMs = 3_600_000

/** From this share of failed attempts on a destination is failing, and not only slow or unlucky. */
export const failing = { attempts: 3, share: 0.5 } as const
