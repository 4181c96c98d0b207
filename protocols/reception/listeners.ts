/** All listeners of a server. They start together, and close within a deadline. */
import type { Clock } from '#core/clock.ts'
import type { ReceptionListener } from './reception-listener.ts'
import type { ListenAddress } from './reception-settings.ts'

export class Listeners {
  readonly #clock: Clock
  readonly #open: ReceptionListener[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Starts listeners and returns the bound addresses in the same order. Throws if a listener cannot start; the others stay open until
   * `close`.
   */
  async openAll(addresses: readonly ListenAddress[], make: (address: ListenAddress) => ReceptionListener): Promise<ListenAddress[]> {
    const opened: ListenAddress[] = []
    for (const address of addresses) {
      const listener = make(address)
      opened.push(await listener.open(address))
      this.#open.push(listener)
    }
    return opened
  }

  /**
   * Stops accepting connections and sends 421 to every session. A session that is receiving a message first gets the reply to it. After
   * `deadlineMs` milliseconds, closes the remaining sessions unless their message is being written. Resolves when everything is closed.
   */
  async close(deadlineMs: number): Promise<void> {
    const listeners = this.#open.splice(0)
    const drained = Promise.all(listeners.map((listener) => listener.drain()))
    const cut = (): void => listeners.forEach((listener) => listener.destroyAll())
    const timer = this.#clock.after(deadlineMs, cut)
    await drained
    timer.cancel()
  }
}
