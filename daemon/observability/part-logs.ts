/** Loggers of the parts of the daemon, each with its configured level. All of them can be switched to debug. */
import type { LogPart, PartLevels } from '#config/settings/observability-settings.ts'
import type { Logger } from './logging.ts'

export class PartLogs {
  readonly #root: Logger
  readonly #levels: PartLevels
  readonly #parts = new Map<LogPart, Logger>()
  /** The level of the root before the switch to debug. */
  #usual: string | undefined

  constructor(root: Logger, levels: PartLevels) {
    this.#root = root
    this.#levels = levels
  }

  /** Returns the logger of a part, always the same one. */
  of(part: LogPart): Logger {
    const known = this.#parts.get(part)
    if (known) return known
    const level = this.#levels[part]
    const logger = this.#root.child({}, { level: level ?? this.#root.level })
    this.#parts.set(part, logger)
    return logger
  }

  /** Switches all loggers to debug, or back to the configured levels. Returns the new state. */
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
