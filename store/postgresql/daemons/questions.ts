/** Questions to other daemons, and the daemons that have not answered yet. */
import { randomUUID } from 'node:crypto'

interface Question {
  readonly missing: Set<string>
  readonly answered: () => void
}

/** An open question. Dispose it after the wait for its answers. */
export interface Asked extends Disposable {
  /** Other daemons repeat it in their answer. */
  readonly id: string
  /** Resolves when each daemon has answered or can write nothing. */
  readonly answered: Promise<void>
}

export class Questions {
  readonly #open = new Map<string, Question>()

  /** Opens a question to these daemons. */
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

  /** Closes questions to all other daemons: they will not answer. */
  living(daemons: readonly string[]): void {
    for (const { missing, answered } of this.#open.values()) {
      for (const id of missing) if (!daemons.includes(id)) missing.delete(id)
      if (missing.size === 0) answered()
    }
  }
}

/** Replies to questions of other daemons. A question that is repeated during the work gets one answer at its end. */
export class Answers {
  readonly #inFlight = new Set<string>()

  /** Does the work, then answers. After a failure it does not answer, and the other daemon asks again. */
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
