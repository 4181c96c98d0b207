/** Life cycle of the process: starts parts in order and stops them in reverse, each within a deadline. Only this file ends the process. */
import type { EventEmitter } from 'node:events'
import { performance } from 'node:perf_hooks'
import type { Logger } from '../observability/logging.ts'

/** Exit codes; the numbers are from sysexits.h if it has one. `unread`: the code of a program that SIGPIPE ended. */
export const exitCodes = { ok: 0, failed: 1, usage: 64, damaged: 65, crashed: 70, configuration: 78, unread: 141 } as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** A part that runs from its start to its stop. */
export interface Part {
  readonly name: string
  start(): Promise<void>
  stop(): Promise<void>
  /** Timeout of `stop` in seconds, before the next part is stopped. Default: 10. */
  readonly stopSeconds?: number
  /** Stops accepting work and answers pending requests within the given milliseconds, after a failure of the store. */
  readonly breakOff?: (milliseconds: number) => Promise<void>
}

/** Interface of the process for the lifecycle. Tests replace it. */
export interface ProcessControl {
  readonly events: Pick<EventEmitter, 'on' | 'off'>
  exit(code: ExitCode): void
}

const defaultStopSeconds = 10
const flushMs = 1000
/** Time to answer callers after a failure of the store, which then refuses every write. */
const breakOffMs = 1000
const stopSignals = ['SIGTERM', 'SIGINT'] as const

/** The process that runs this code. */
const thisProcess: ProcessControl = { events: process, exit: (code) => process.exit(code) }

/**
 * Starts parts, waits for a signal and stops them. After `fail` and `storeFailed`, parts are not stopped in order, and a supervisor starts
 * a new process.
 */
export class Lifecycle {
  readonly #log: Logger
  readonly #shutdownSeconds: number
  readonly #process: ProcessControl
  readonly #parts = new AsyncDisposableStack()
  readonly #onCrash = (error: unknown): void => this.fail(error)
  #stopping: Promise<void> | undefined
  #stopBefore = Infinity
  readonly #breakingOff: NonNullable<Part['breakOff']>[] = []
  #hasFailed = false

  constructor(log: Logger, shutdownSeconds: number, control: ProcessControl = thisProcess) {
    this.#log = log
    this.#shutdownSeconds = shutdownSeconds
    this.#process = control
  }

  /** Starts a part after the previous ones. If it fails, stops them and throws the error. */
  async start(part: Part): Promise<void> {
    const since = performance.now()
    try {
      await part.start()
    } catch (error) {
      await this.stop()
      throw error
    }
    // A signal during the start has already stopped the other parts.
    if (this.#stopping) return this.#stopPart(part)
    this.#parts.defer(() => this.#stopPart(part))
    if (part.breakOff) this.#breakingOff.push(part.breakOff)
    this.#log.debug({ part: part.name, milliseconds: Math.round(performance.now() - since) }, 'started')
  }

  /** Stops all parts within the given seconds, the last one first. Never throws. Further calls wait for the same stop. */
  stop(seconds = this.#shutdownSeconds): Promise<void> {
    this.#stopping ??= this.#stopAll(seconds)
    return this.#stopping
  }

  /**
   * Waits for SIGTERM, SIGINT or another given signal, stops everything and ends the process with 0. A second signal ends it immediately.
   * Uncaught errors end it with 70. Call it before the parts start, so that a signal can stop the start.
   */
  async runUntilSignal(others: readonly NodeJS.Signals[] = []): Promise<void> {
    const { events } = this.#process
    const { promise, resolve } = Promise.withResolvers<string>()
    let signals = 0
    const names = [...stopSignals, ...others]
    const onSignal = (signal: string): void => {
      if (signals > 0 && signal === 'SIGHUP') return // the kernel and the shell of a closed terminal each send one
      signals += 1
      if (signals > 1) this.#endAtOnce(signal)
      resolve(signal)
    }
    for (const name of names) events.on(name, onSignal)
    events.on('uncaughtException', this.#onCrash)
    const signal = await promise
    this.#log.info({ signal }, 'stopping')
    await this.stop()
    for (const name of names) events.off(name, onSignal)
    events.off('uncaughtException', this.#onCrash)
    this.#log.info('stopped')
    await this.#flushLog()
    this.#process.exit(exitCodes.ok)
  }

  /** Ends the process immediately with 70, after an unexpected error. */
  fail(error: unknown): void {
    this.#log.fatal({ err: error }, 'cannot go on')
    this.#process.exit(exitCodes.crashed)
  }

  /** Ends the process with 70 within a second, after pending callers have their answers. The store acknowledges nothing from then on. */
  storeFailed(error: unknown): void {
    if (this.#hasFailed) return
    this.#hasFailed = true
    this.#log.fatal({ err: error }, 'cannot go on')
    const exit = (): void => this.#process.exit(exitCodes.crashed)
    const late = setTimeout(exit, breakOffMs)
    void Promise.allSettled(this.#breakingOff.map((breakOff) => breakOff(breakOffMs / 2))).then(() => {
      clearTimeout(late)
      exit()
    })
  }

  async #stopAll(seconds: number): Promise<void> {
    this.#stopBefore = performance.now() + seconds * 1000
    await this.#parts.disposeAsync()
  }

  async #stopPart(part: Part): Promise<void> {
    const ownMs = (part.stopSeconds ?? defaultStopSeconds) * 1000
    const milliseconds = Math.round(Math.max(0, Math.min(ownMs, this.#stopBefore - performance.now())))
    const { promise: deadline, resolve } = Promise.withResolvers<'late'>()
    const timer = setTimeout(() => resolve('late'), milliseconds)
    try {
      const outcome = await Promise.race([part.stop(), deadline])
      if (outcome === 'late') this.#log.warn({ part: part.name, milliseconds }, 'did not stop in time, going on')
    } catch (error) {
      this.#log.error({ part: part.name, err: error }, 'failed to stop, going on')
    } finally {
      clearTimeout(timer)
    }
  }

  #endAtOnce(signal: string): void {
    this.#log.warn({ signal }, 'second signal, ending at once')
    this.#process.exit(exitCodes.failed)
  }

  /** Waits until the last lines are written, for a limited time. */
  async #flushLog(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, flushMs)
    this.#log.flush(() => resolve())
    await promise
    clearTimeout(timer)
  }
}
