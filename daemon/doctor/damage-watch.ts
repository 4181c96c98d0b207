/**
 * Compares files and large values of the store with their checksums, soon after the start and then daily. It works in short intervals to
 * leave time for mail.
 */
import type { Clock, Timer } from '#core/clock.ts'
import { restsBetween } from '#core/event-loop.ts'
import type { Damage, StoreKv } from '#store/engine/store-kv.ts'
import type { Logger } from '../observability/logging.ts'

const firstMs = 5000
const everyMs = 24 * 3600 * 1000
/** The check works for a quarter of the time. */
const [workMs, restMs] = [5, 15]

/** Thrown when the process stops during a check. */
class Stopped extends Error {}

type Watched = Pick<StoreKv, 'damage' | 'mended' | 'check' | 'checkValues'>

export class DamageWatch {
  readonly #kv: Watched
  readonly #clock: Clock
  readonly #log: Pick<Logger, 'error'>
  /** Damage that is already logged. */
  readonly #logged = new Set<string>()
  #timer: Timer | undefined
  #running: Promise<void> = Promise.resolve()
  readonly #stopped = Promise.withResolvers<void>()
  #isStopped = false

  constructor(kv: Watched, clock: Clock, log: Pick<Logger, 'error'>) {
    this.#kv = kv
    this.#clock = clock
    this.#log = log
  }

  /** Logs known damage immediately. */
  start(): void {
    for (const problem of this.#kv.mended)
      this.#log.error({ problem }, 'the start corrected flipped bits in the store; test the memory and the disk of this machine')
    this.#tell(this.#kv.damage)
    this.#after(firstMs)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#stopped.resolve()
    this.#timer?.cancel()
    await this.#running
  }

  #after(ms: number): void {
    if (this.#isStopped) return
    this.#timer = this.#clock.after(ms, () => {
      this.#running = this.#check().finally(() => this.#after(everyMs))
    })
  }

  async #check(): Promise<void> {
    const between = restsBetween(this.#clock, workMs, restMs)
    const rest = async (): Promise<void> => {
      if (!this.#isStopped) await Promise.race([between(), this.#stopped.promise])
      if (this.#isStopped) throw new Stopped()
    }
    try {
      this.#tell(await this.#kv.check(rest))
      this.#tell(await this.#kv.checkValues(rest))
    } catch (error) {
      if (!(error instanceof Stopped)) this.#log.error({ err: error }, 'the check of the store failed')
    }
  }

  #tell(damage: readonly Damage[]): void {
    for (const { sentence } of damage) {
      if (this.#logged.has(sentence)) continue
      this.#logged.add(sentence)
      this.#log.error({ problem: sentence }, 'the store is damaged; run "postern verify", and restore the last good backup')
    }
  }
}
