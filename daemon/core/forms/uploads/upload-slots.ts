/** Limits concurrent uploads per network and in total, so that slow uploads do not block other visitors. */
import { clientNetwork } from '../../access/client-network.ts'
import { Refusal } from '../../refusals.ts'

const maxInAll = 64
const maxOfNetwork = 8

export interface UploadSlot {
  /** Throws `overloaded` if too many uploads are in progress. */
  enter(): void
  /** Does nothing if the slot was never entered. */
  leave(): void
}

export class UploadSlots {
  readonly #ofNetwork = new Map<string, number>()
  #inAll = 0

  of(remoteAddress: string): UploadSlot {
    const network = clientNetwork(remoteAddress)
    let isHeld = false
    return {
      enter: () => {
        if (this.#inAll >= maxInAll || (this.#ofNetwork.get(network) ?? 0) >= maxOfNetwork) throw tooMany()
        isHeld = true
        this.#add(network, 1)
      },
      leave: () => {
        if (isHeld) this.#add(network, -1)
        isHeld = false
      },
    }
  }

  #add(network: string, delta: number): void {
    this.#inAll += delta
    const left = (this.#ofNetwork.get(network) ?? 0) + delta
    if (left > 0) this.#ofNetwork.set(network, left)
    else this.#ofNetwork.delete(network)
  }
}

const tooMany = (): Refusal =>
  new Refusal('overloaded', 'Too many uploads are in progress. Send the form again in a moment.', { retryAfterSeconds: 5 })
