/** The loggers of parts of the daemon, each with a level of its own where the settings give it one; all of them can be set to debug. */
import type { LogPart, PartLevels } from '#config/settings/observability-settings.ts'
import type { Logger } from './logging.ts'

export class PartLogs {
  readonly #root: Logger
  readonly #levels: PartLevels
  readonly #parts = new Map<LogPart, Logger>()
  /** The level of the root before it was set to debug. */
  #usual: string | undefined

  constructor(root: Logger, levels: PartLevels) {
    this.#root = root
    this.#levels = levels
  }

  /** The same one each time. */
  of(part: LogPart): Logger {
    const known = this.#parts.get(part)
    if (known) return known
    const level = this.#levels[part]
    const logger = this.#root.child({}, { level: level ?? this.#root.level })
    this.#parts.set(part, logger)
    return logger
  }

  /** Sets everything to debug, or back to the levels of the settings. Says which. */
  toggleDebug(): 'debug' | 'usual' {
    if (this.#usual === undefined) {
      this.#usual = this.#root.level
      for (const logger of [this.#root, ...this.#parts.values()]) logger.level = 'debug'
      return 'debug'
    }
    this.#root.level = this.#usual
    for (const [part, logger] of this.#parts) logger.level = this.#levels[part] ?? this.#usual
    this.#usual = undefined
    return 'usual'
  }
}
