/** Sends the spool folder of `postern sendmail` from the daemon: mail spooled while no daemon ran, and later mail. */
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
  /** The HTTP address of this daemon. `ownToken` authenticates its own requests; each start creates a new one. */
  readonly origin: string
  readonly ownToken: string
}

/** Uses the same entry point as the command. Messages with a key other than the configured one need a proof. */
export class SpoolRounds implements Part {
  readonly name = 'spool of sendmail'
  readonly #options: SpoolRoundsOptions
  readonly #stopping = new AbortController()
  readonly #rounds: TimedRounds
  /** Summary of the messages left by the last round, to log each state only once. */
  #standing = ''

  constructor(options: SpoolRoundsOptions) {
    const { clock, log } = options
    this.#options = options
    this.#rounds = new TimedRounds({
      ...{ clock, everyMs, round: () => this.#round() },
      onError: (error) => log.warn({ err: error }, 'cannot read the spool of sendmail'),
    })
  }

  start(): Promise<void> {
    this.#rounds.start()
    return Promise.resolve()
  }

  /** Resolves when no round is in progress. */
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
