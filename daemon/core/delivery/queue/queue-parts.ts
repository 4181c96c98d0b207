/**
 * Splits the delivery queue into parts by destination. Daemons that share a store share the parts, so that one daemon enforces the limits
 * of a destination.
 */
import type { Daemons } from '#store/daemons/daemons.ts'
import type { QueueEntry, QueuePart } from '#store/queue.ts'

/** Starts and releases a part, or all parts if `number` is undefined. */
export interface PartWork {
  readonly take: (number: number | undefined) => Promise<void>
  readonly release: (number: number | undefined) => Promise<void>
}

/** Many more parts than daemons, so that each daemon gets about as many. */
const count = 32
/** Topic for new queue entries. */
export const queuedTopic = 'queued'
const nameOf = (number: number): string => `queue ${number}`

type Queued = QueuePart & Pick<QueueEntry, 'dueMs'>

export class QueueParts {
  readonly #daemons: Daemons
  readonly #work: PartWork
  readonly #names: readonly string[]

  constructor(daemons: Daemons, work: PartWork) {
    this.#daemons = daemons
    this.#work = work
    this.#names = daemons.isAlone ? ['queue'] : Array.from({ length: count }, (_, number) => nameOf(number))
  }

  async share(): Promise<void> {
    await Promise.all(this.#names.map((name, at) => this.#share(name, this.#daemons.isAlone ? undefined : at)))
  }

  async leave(): Promise<void> {
    await Promise.all(this.#names.map((name) => this.#daemons.leave(name)))
  }

  /** Returns true if this daemon delivers to the destination. A single daemon always does. */
  holds(part: Pick<QueuePart, 'destinationId'>): boolean {
    return this.#daemons.isAlone || this.#daemons.holds(nameOf(this.numberOf(part)))
  }

  /** Notifies the daemon that delivers to the destination. */
  publish({ destinationId, projectId, dueMs }: Queued): void {
    this.#daemons.publish(queuedTopic, [`${destinationId} ${projectId} ${dueMs}`])
  }

  numberOf(part: Pick<QueuePart, 'destinationId'>): number {
    return partOf(part)
  }

  #share(name: string, number: number | undefined): Promise<void> {
    return this.#daemons.share({ name, moves: true, start: () => this.#work.take(number), stop: () => this.#work.release(number) })
  }
}

export function partOf({ destinationId }: Pick<QueuePart, 'destinationId'>): number {
  let hash = 0
  for (let i = 0; i < destinationId.length; i++) hash = (Math.imul(hash, 31) + destinationId.charCodeAt(i)) >>> 0
  return hash % count
}

export function toQueued(item: string): Queued {
  const [destinationId = '', projectId = '', dueMs] = item.split(' ')
  return { destinationId, projectId, dueMs: Number(dueMs) }
}
