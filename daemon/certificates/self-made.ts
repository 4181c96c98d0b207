/** Renews the self-signed certificate of a long-running daemon in time. */
import type { Timer } from '#core/clock.ts'
import { loadCertificate } from './certificate.ts'
import type { CertificateSource } from './certificate-source.ts'
import type { SourceOptions } from './configured-files.ts'

const everyMs = 12 * 3600 * 1000

export class SelfMade implements CertificateSource {
  readonly #options: SourceOptions
  #timer: Timer | undefined
  #looking: Promise<void> = Promise.resolve()

  constructor(options: SourceOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    this.#timer = this.#options.clock.after(everyMs, () => void this.reload().then(() => this.start()))
  }

  async stop(): Promise<void> {
    this.#timer?.cancel()
    await this.#looking
  }

  reload(): Promise<void> {
    this.#looking = this.#looking.then(() => this.#look())
    return this.#looking
  }

  async #look(): Promise<void> {
    const { config, current, clock, log } = this.#options
    try {
      const next = await loadCertificate(config, clock.now())
      if (next.cert === current.cert) return
      current.replace(next)
      log.info({ expires: next.expires }, 'self-signed certificate renewed')
    } catch (error) {
      current.problem = String(error)
      log.error({ err: error }, 'could not renew the self-signed certificate; the current one stays in use')
    }
  }
}
