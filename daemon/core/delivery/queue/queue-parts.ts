/** Parts of the delivery queue, by destination: daemons that share a store share them, so that the limits of a destination hold in one. */
import type { Daemons } from '#store/daemons/daemons.ts'
import type { QueueEntry, QueuePart } from '#store/queue.ts'

/** What takes a part up, and what lets go of it; of all parts where no number is given. */
export interface PartWork {
  readonly take: (number: number | undefined) => Promise<void>
  readonly release: (number: number | undefined) => Promise<void>
}

/** More than daemons by far, so that each has about as many. */
const count = 32
/** Says that something was queued. */
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

  /** Whether the attempts at the destination are made here; also before any is, where no other daemon can be. */
  holds(part: Pick<QueuePart, 'destinationId'>): boolean {
    return this.#daemons.isAlone || this.#daemons.holds(nameOf(this.numberOf(part)))
  }

  /** Has the daemon look for it that makes the attempts at its destination. */
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
