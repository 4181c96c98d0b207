/** What the others are to answer, and who has not answered yet. */
import { randomUUID } from 'node:crypto'

interface Question {
  readonly missing: Set<string>
  readonly answered: () => void
}

/** One question on its way. Dispose it when it is not waited for any more. */
export interface Asked extends Disposable {
  /** By which others answer it. */
  readonly id: string
  /** Resolves when all have answered, or can write nothing any more. */
  readonly answered: Promise<void>
}

export class Questions {
  readonly #open = new Map<string, Question>()

  /** Asks these. */
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

  /** Whoever is not among these will not answer, and need not. */
  living(daemons: readonly string[]): void {
    for (const { missing, answered } of this.#open.values()) {
      for (const id of missing) if (!daemons.includes(id)) missing.delete(id)
      if (missing.size === 0) answered()
    }
  }
}

/** What others ask for and is under way: asked again meanwhile, it is answered once, when it has ended. */
export class Answers {
  readonly #inFlight = new Set<string>()

  /** Does it, then answers; what fails is not answered, and asked again. */
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
