/**
 * Logs unexpected errors with a stack. Damage of the store is expected while the daemon runs: its line has the sentence of the error
 * instead of a stack, and appears at most once a minute.
 */
import { RecentMap } from '#core/recent-map.ts'
import { StoreDamaged } from '#store/kv.ts'
import { describeKey } from '#store/tuple.ts'
import { withoutAddresses } from './clean-text.ts'
import type { Logger } from './logging.ts'

interface Defect {
  /** The work that failed, such as `delivery` or `a request`. */
  readonly what: string
  /** The record or operation of the work. Each one has a separate line. */
  readonly subject?: Readonly<Record<string, string>>
  /** The request or session, which differs for each error. */
  readonly place?: Readonly<Record<string, string>>
}

const pauseMs = 60_000
const maxTexts = 1000

export class DefectLog {
  readonly #monotonic: () => number
  /** Earliest time to log each text again. */
  readonly #again = new RecentMap<string, number>(maxTexts)

  constructor(monotonic: () => number = () => performance.now()) {
    this.#monotonic = monotonic
  }

  write(log: Pick<Logger, 'error'>, error: unknown, { what, subject, place }: Defect): void {
    const damage = damageIn(error)
    if (!damage) return log.error({ err: error, ...subject, ...place }, `unexpected error in ${what}`)
    const { message: problem, key } = damage
    const text = JSON.stringify([what, subject, problem])
    const now = this.#monotonic()
    if (now < (this.#again.get(text) ?? -Infinity)) return
    this.#again.set(text, now + pauseMs)
    const row = key && withoutAddresses(describeKey(key))
    log.error({ problem, row, ...subject, ...place }, `${what} failed: the store is damaged`)
  }
}

function damageIn(error: unknown): StoreDamaged | undefined {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof StoreDamaged) return one
  return undefined
}
