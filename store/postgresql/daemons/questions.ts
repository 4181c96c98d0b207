/** Notices to other daemons that request an answer, here called questions, and the daemons that have not answered yet. */
import { randomUUID } from 'node:crypto'

interface Question {
  readonly missing: Set<string>
  readonly answered: () => void
}

/** A question without all answers yet. Dispose it after the wait for its answers. */
export interface Asked extends Disposable {
  /** Id of the question. Each answer contains it. */
  readonly id: string
  /** Resolves when each daemon has answered, or was removed and can no longer write to the store. */
  readonly answered: Promise<void>
}

export class Questions {
  readonly #open = new Map<string, Question>()

  /** Creates a question to these daemons. The caller sends it. */
  ask(daemons: readonly string[]): Asked {
    const id = randomUUID()
    const { promise: answered, resolve } = Promise.withResolvers<void>()
    if (daemons.length === 0) resolve()
    else this.#open.set(id, { missing: new Set(daemons), answered: resolve })
    return { id, answered, [Symbol.dispose]: () => void this.#open.delete(id) }
  }

  arrived(id: string, from: string): void {
    const question = this.#open.get(id)
    question?.missing.delete(from)
    if (question?.missing.size === 0) question.answered()
  }

  /** Stops waiting for daemons that are not in the list: they were removed and will not answer. */
  living(daemons: readonly string[]): void {
    for (const { missing, answered } of this.#open.values()) {
      for (const id of missing) if (!daemons.includes(id)) missing.delete(id)
      if (missing.size === 0) answered()
    }
  }
}

/** Sends answers to the questions of other daemons. Ignores a question that is repeated while its work is in progress. */
export class Answers {
  readonly #inFlight = new Set<string>()

  /** Does the work, then answers. After a failure it sends no answer, so the other daemon repeats the question. */
  async give(id: string, work: () => Promise<unknown>, answer: () => void): Promise<void> {
    if (this.#inFlight.has(id)) return
    this.#inFlight.add(id)
    try {
      await work()
      answer()
    } finally {
      this.#inFlight.delete(id)
    }
  }
}
