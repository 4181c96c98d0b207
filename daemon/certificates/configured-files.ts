/** Watches the operator's certificate files. Uses new files when they are complete and match. */
import { watch, type FSWatcher } from 'node:fs'
import { dirname } from 'node:path'
import { ConfigInvalid, type Config } from '#config/settings/load.ts'
import type { Clock, Timer } from '#core/clock.ts'
import type { Logger } from '../observability/logging.ts'
import { readCertificate } from './certificate.ts'
import type { CertificateSource } from './certificate-source.ts'
import type { CurrentCertificate } from './current-certificate.ts'

export interface SourceOptions {
  readonly config: Config
  readonly current: CurrentCertificate
  readonly clock: Clock
  readonly log: Logger
}

/** Interval of checks in addition to file events, which network file systems do not report. */
const everyMs = 60_000
/** Time to wait for the second file, because the files do not match between two writes. */
const pairMs = 3000

export class ConfiguredFiles implements CertificateSource {
  readonly #options: SourceOptions
  #watchers: FSWatcher[] = []
  #poll: Timer | undefined
  #again: Timer | undefined
  #looking: Promise<void> = Promise.resolve()
  #queued = 0
  #stopped = false

  constructor(options: SourceOptions) {
    this.#options = options
  }

  /** Watches folders instead of files, because a replaced file or link is a change of its folder. */
  async start(): Promise<void> {
    const { certificateFile, keyFile } = this.#options.config.tls
    const folders = new Set([certificateFile, keyFile].flatMap((file) => (file === null ? [] : [dirname(file)])))
    for (const folder of folders) {
      try {
        const watcher = watch(folder, { persistent: false }, () => void this.#look(true))
        watcher.on('error', () => watcher.close())
        this.#watchers.push(watcher)
      } catch (error) {
        this.#options.log.debug({ err: error, folder }, 'file events are not available for a folder; checking it every minute')
      }
    }
    this.#pollLater()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    for (const watcher of this.#watchers) watcher.close()
    this.#poll?.cancel()
    this.#again?.cancel()
    await this.#looking
  }

  reload(): Promise<void> {
    return this.#look(false)
  }

  #pollLater(): void {
    this.#poll = this.#options.clock.after(everyMs, () => {
      void this.#look(true)
      this.#pollLater()
    })
  }

  /** Runs one check at a time, with at most one waiting. */
  #look(patient: boolean): Promise<void> {
    if (this.#stopped || (patient && this.#queued > 1)) return this.#looking
    this.#queued++
    this.#looking = this.#looking.then(() => this.#lookNow(patient)).finally(() => this.#queued--)
    return this.#looking
  }

  async #lookNow(patient: boolean): Promise<void> {
    const { config, current, clock, log } = this.#options
    try {
      const next = await readCertificate(config)
      if (!next || this.#stopped) return
      if (next.cert === current.cert && next.key === current.key) {
        if (current.problem !== undefined) log.info('the certificate files match the certificate in use again')
        current.problem = undefined
      } else if (next.expires.getTime() <= clock.now() && current.expires.getTime() > clock.now()) {
        this.#keepOld(`The certificate in ${String(config.tls.certificateFile)} expired at ${next.expires.toISOString()}; renew it.`)
      } else {
        current.replace(next)
        log.info({ expires: next.expires }, 'certificate reloaded; new connections use it')
      }
    } catch (error) {
      if (!(error instanceof ConfigInvalid)) throw error
      if (patient) this.#lookAgain()
      else this.#keepOld(error.message)
    }
  }

  #lookAgain(): void {
    this.#again?.cancel()
    this.#again = this.#options.clock.after(pairMs, () => void this.#look(false))
  }

  /** Logs each problem once. */
  #keepOld(problem: string): void {
    const { current, log } = this.#options
    if (current.problem === problem) return
    current.problem = problem
    log.error({ problem, expires: current.expires }, 'certificate files are not usable; the current certificate stays in use')
  }
}
