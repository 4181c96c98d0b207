/**
 * Disk space of content that is not accepted yet. Everybody can send mail to an inbound route: without bounds, messages that never end
 * fill the disk, and nothing more can be accepted.
 */
import { Refusal } from '#core/refusals.ts'
import type { DraftRoom } from '#store/kv.ts'

export interface SpillRoomOptions {
  /** Free bytes where data is stored. */
  readonly free: () => number
  /** Bytes of them that stay free. */
  readonly lowDiskBytes: number
  /** Much was deleted: its space is to be collected soon. */
  readonly onRemoved: () => void
}

/** Deleted bytes that are worth a collection: as many as a segment of the value log has. */
const collectedBytes = 128 * 1_048_576

/** An owner holds at most as many bytes as are left, so that there is always room for another one; and `lowDiskBytes` stay free. */
export class SpillRoom implements DraftRoom {
  readonly #options: SpillRoomOptions
  readonly #held = new Map<string, number>()
  #removed = 0

  constructor(options: SpillRoomOptions) {
    this.#options = options
  }

  /** Throws `storage_full`. */
  take(owner: string, bytes: number): void {
    const held = (this.#held.get(owner) ?? 0) + bytes
    if (held > this.#options.free() - this.#options.lowDiskBytes - bytes) {
      if (this.#removed > 0) this.#collect()
      throw new Refusal('storage_full', 'The service has no room for more messages; try again later.', { retryAfterSeconds: 60 })
    }
    this.#held.set(owner, held)
  }

  release(owner: string, bytes: number): void {
    const held = (this.#held.get(owner) ?? 0) - bytes
    if (held > 0) this.#held.set(owner, held)
    else this.#held.delete(owner)
  }

  removed(bytes: number): void {
    this.#removed += bytes
    if (this.#removed >= collectedBytes) this.#collect()
  }

  #collect(): void {
    this.#removed = 0
    this.#options.onRemoved()
  }
}
