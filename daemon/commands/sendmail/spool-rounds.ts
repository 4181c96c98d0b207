/** The daemon sends the spool of `postern sendmail`: what was kept while no daemon ran, and what comes to the folder later. */
import type { Config } from '#config/settings/load.ts'
import type { Clock } from '#core/clock.ts'
import { TimedRounds } from '#core/work-loop.ts'
import type { Logger } from '../../observability/logging.ts'
import type { Part } from '../../process/lifecycle.ts'
import { keyName, sendSpool, type Receiver } from './hand-over.ts'
import { spoolFolder } from './spool.ts'

const everyMs = 60_000

export interface SpoolRoundsOptions {
  readonly config: Pick<Config, 'dataDir' | 'sendmail'>
  readonly log: Pick<Logger, 'info' | 'warn'>
  readonly clock: Clock
  /** Where the daemon itself takes messages, and the token of this run. */
  readonly origin: string
  readonly ownToken: string
}

/** Hands over through the same entry point as the command does. Messages of other keys than that of the settings must prove them. */
export class SpoolRounds implements Part {
  readonly name = 'spool of sendmail'
  readonly #options: SpoolRoundsOptions
  readonly #stopping = new AbortController()
  readonly #rounds: TimedRounds
  /** What waited after the last round: it is logged once. */
  #standing = ''

  constructor(options: SpoolRoundsOptions) {
    const { clock, log } = options
    this.#options = options
    this.#rounds = new TimedRounds({
      ...{ clock, everyMs, round: () => this.#round() },
      onError: (error) => log.warn({ err: error }, 'the spool of sendmail cannot be read'),
    })
  }

  start(): Promise<void> {
    this.#rounds.start()
    return Promise.resolve()
  }

  /** Resolves when no round is under way. */
  idle(): Promise<void> {
    return this.#rounds.idle()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#rounds.stop()
  }

  async #round(): Promise<void> {
    const { config, log, origin, ownToken } = this.#options
    const { key } = config.sendmail
    const receiver: Receiver = { origin, token: key ?? ownToken, by: keyName(key), ownToken }
    const { taken, refused, left, reason } = await sendSpool(spoolFolder(config), receiver, { signal: this.#stopping.signal })
    const standing = left === 0 ? '' : `${left} ${reason}`
    if (taken + refused.length > 0 || standing !== this.#standing)
      log.info({ taken, refused: refused.length, left, reason }, 'sent the spool of sendmail')
    this.#standing = standing
  }
}
