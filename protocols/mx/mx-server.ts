/** MX server: listeners with STARTTLS for mail from other servers. It calls the core through `InboundDoor`. */
import { Listeners } from '../reception/listeners.ts'
import type { ListenAddress } from '../reception/reception-settings.ts'
import { MxContext } from './mx-context.ts'
import { MxListener } from './mx-listener.ts'
import type { MxOptions } from './mx-settings.ts'

export class MxServer {
  readonly #options: MxOptions
  readonly #listeners: Listeners

  constructor(options: MxOptions) {
    this.#options = options
    this.#listeners = new Listeners(options.clock)
  }

  /** Starts all listeners and returns the bound addresses. If a listener fails to start, closes the others and throws. */
  async listen(): Promise<readonly ListenAddress[]> {
    const context = new MxContext(this.#options)
    try {
      return await this.#listeners.openAll(this.#options.listen, () => new MxListener(context, this.#options))
    } catch (error) {
      await this.close(0)
      throw error
    }
  }

  /** See `Listeners.close`. */
  close(deadlineMs: number): Promise<void> {
    return this.#listeners.close(deadlineMs)
  }
}
