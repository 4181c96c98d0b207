/**
 * Limits disk space of content that is not accepted yet. Any client can send mail to an inbound route. Without limits, endless messages
 * would fill the disk and stop all acceptance.
 */
import { Refusal } from '#core/refusals.ts'
import type { DraftRoom } from '#store/kv.ts'

export interface SpillRoomOptions {
  /** Returns the free bytes of the data folder. */
  readonly free: () => number
  /** Bytes that must stay free. */
  readonly lowDiskBytes: number
  /** Called after many deletions, so that their space is freed soon. */
  readonly onRemoved: () => void
}

/** Deleted bytes that justify freeing space: the size of a segment of the value log. */
const collectedBytes = 128 * 1_048_576

/** An owner may hold at most as many bytes as stay available, so that others always have room. `lowDiskBytes` stay free in any case. */
export class SpillRoom implements DraftRoom {
  readonly #options: SpillRoomOptions
  readonly #held = new Map<string, number>()
  #removed = 0

  constructor(options: SpillRoomOptions) {
    this.#options = options
  }

  /** Reserves bytes for an owner. Throws `storage_full`. */
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
