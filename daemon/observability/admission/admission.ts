/** Load shedding: refuses new work while the store cannot keep up, the disk is nearly full, or the daemon is stopping. Measures lag. */
import { statfsSync } from 'node:fs'
import { open, rm, stat } from 'node:fs/promises'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Clock } from '#core/clock.ts'
import { Refusal } from '#core/refusals.ts'
import { DamagedFolder, StoreInUse } from '#store/kv.ts'

/** Message of a refusal because of overload. */
export const busy = 'The service is busy; try again in a few seconds.'
const sampleMs = 50
const nanosecondsPerMs = 1e6
const retryAfterSeconds = 5
const closingRetryAfterSeconds = 10

/** Limits of the load. */
export interface AdmissionLimits {
  /** Delay of the event loop, in milliseconds, that more than half of the samples of a window must exceed. */
  readonly lagMs: number
  /** Length of a window in milliseconds. One long pause, such as a garbage collection, does not fill it. */
  readonly windowMs: number
  /** Free bytes below which nothing is accepted. */
  readonly lowDiskBytes: number
}

/** Sources of the measured values. */
export interface AdmissionSources {
  readonly clock: Clock
  /** Free bytes where data is stored: see `freeBytes`. */
  readonly free: () => number
  /** Whether the queue of writes is longer than the store can process in reasonable time. */
  readonly storeIsBehind: () => boolean
  /** Called while free bytes are below the limit, so that the store frees space. */
  readonly onDiskLow?: () => void
}

/** Limits for production, without the disk limit. */
export const defaultLag = { lagMs: 500, windowMs: 1000 } as const

/** Returns the bytes that an unprivileged user can still write in the file system of `folder`. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

/**
 * Refuses work under load. Entry points call `check` before they accept work. Measures only in calls, so that an idle process does not
 * access the disk.
 */
export class Admission implements Disposable {
  readonly #sources: AdmissionSources
  readonly #limits: AdmissionLimits
  readonly #delay: ReturnType<typeof monitorEventLoopDelay>
  #closing = false
  #lagging = false
  #windowStart: number
  #diskLow = false
  #diskLookedAt = -Infinity

  constructor(sources: AdmissionSources, limits: AdmissionLimits) {
    this.#sources = sources
    this.#limits = limits
    this.#windowStart = sources.clock.monotonic()
    this.#delay = monitorEventLoopDelay({ resolution: sampleMs })
    this.#delay.enable()
  }

  /**
   * Throws `overloaded` while no work may be accepted, and `storage_full` for work that stores mail or files while the disk is low. The
   * service recovers by itself. Sign-in, reads and deletions stay possible, so that people can free space.
   */
  check(work: 'storing' | 'other' = 'storing'): void {
    if (this.#closing) {
      throw new Refusal('overloaded', 'The service is about to stop; try again in a moment.', {
        retryAfterSeconds: closingRetryAfterSeconds,
      })
    }
    if (work === 'storing' && this.isDiskLow()) {
      throw new Refusal('storage_full', 'The service has no room for more messages; try again later.', { retryAfterSeconds: 60 })
    }
    if (this.#sources.storeIsBehind()) throw new Refusal('overloaded', busy, { retryAfterSeconds })
  }

  /** Whether most samples of the last window were late. `Fairness` then refuses callers that exceed an even share. */
  isLagging(): boolean {
    const now = this.#sources.clock.monotonic()
    if (now - this.#windowStart < this.#limits.windowMs || this.#delay.count < 3) return this.#lagging
    // The histogram measures the time between samples, which includes the sampling interval.
    this.#lagging = this.#delay.percentile(50) / nanosecondsPerMs - sampleMs > this.#limits.lagMs
    this.#delay.reset()
    this.#windowStart = now
    return this.#lagging
  }

  /** Whether free space is below the limit, measured at most once a second. */
  isDiskLow(): boolean {
    const now = this.#sources.clock.monotonic()
    if (now - this.#diskLookedAt >= 1000) {
      this.#diskLookedAt = now
      this.#diskLow = this.#sources.free() < this.#limits.lowDiskBytes
      if (this.#diskLow) this.#sources.onDiskLow?.()
    }
    return this.#diskLow
  }

  /** Refuses all work from now on. */
  close(): void {
    this.#closing = true
  }

  [Symbol.dispose](): void {
    this.#delay.disable()
  }
}

/** File that only occupies space. Deleting it lets the store open on a full disk. */
export class Ballast {
  readonly #path: string
  readonly #bytes: number
  readonly #free: () => number

  constructor(path: string, bytes: number, free: () => number) {
    this.#path = path
    this.#bytes = bytes
    this.#free = free
  }

  /** Creates the file, unless it exists or less than `lowDiskBytes` would remain free. */
  async ensure(lowDiskBytes: number): Promise<void> {
    const present = await this.#size()
    if (this.#bytes === 0 || present === this.#bytes || this.#free() + present < this.#bytes + lowDiskBytes) return
    // Random bytes, because compressing file systems would store zeros in no space.
    const block = crypto.getRandomValues(new Uint8Array(65_536))
    await using file = await open(this.#path, 'w', 0o600)
    for (let written = 0; written < this.#bytes; written += block.length) {
      await file.write(block, 0, Math.min(block.length, this.#bytes - written))
    }
    await file.sync()
  }

  /**
   * Runs `openStore`. If it fails and the free space is smaller than the ballast, deletes the ballast and tries once more, because recovery
   * writes to the disk. Keeps the ballast if another process uses the store or the store is damaged.
   */
  async openStore<Store>(openStore: () => Promise<Store>): Promise<Store> {
    try {
      return await openStore()
    } catch (error) {
      if (error instanceof StoreInUse || error instanceof DamagedFolder) throw error
      if ((await this.#size()) === 0 || this.#free() >= this.#bytes) throw error
      await rm(this.#path, { force: true })
      return openStore()
    }
  }

  async #size(): Promise<number> {
    const found = await stat(this.#path).catch(() => undefined)
    return found?.size ?? 0
  }
}
