/** All listeners of one server: they open together or not at all, and close within a deadline. */
import type { Clock } from '#core/clock.ts'
import type { ReceptionListener } from './reception-listener.ts'
import type { ListenAddress } from './reception-settings.ts'

export class Listeners {
  readonly #clock: Clock
  readonly #open: ReceptionListener[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The real addresses, in the same order. When one cannot be opened, it throws; what is open stays so until `close`. */
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
   * Takes no more connections and sends 421 to every session; a message that is on its way in may finish and gets its reply.
   * After `deadlineMs` milliseconds what is left is cut, but for messages whose write is under way. Resolves when everything is closed.
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
