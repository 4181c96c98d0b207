/** Questions to DNS of a thread that has no network of its own: it asks the main thread, each question under a number. */
import type { QuestionType, Resolve } from './inspect/input.ts'

export interface Question {
  readonly kind: 'question'
  readonly number: number
  readonly name: string
  readonly type: QuestionType
}

/** `code` is that of an error. */
export type QuestionAnswer =
  | { readonly kind: 'answer'; readonly number: number; readonly records: readonly unknown[] }
  | { readonly kind: 'fault'; readonly number: number; readonly code: string }

/** The side of the thread. */
export class AskedQuestions {
  readonly #tell: (question: Question) => void
  readonly #waiting = new Map<number, PromiseWithResolvers<readonly unknown[]>>()
  #asked = 0

  constructor(tell: (question: Question) => void) {
    this.#tell = tell
  }

  readonly resolve: Resolve = (name, type) => {
    const number = ++this.#asked
    const question = Promise.withResolvers<readonly unknown[]>()
    this.#waiting.set(number, question)
    this.#tell({ kind: 'question', number, name, type })
    return question.promise
  }

  hear(answer: QuestionAnswer): void {
    const question = this.#waiting.get(answer.number)
    this.#waiting.delete(answer.number)
    if (answer.kind === 'answer') question?.resolve(answer.records)
    else question?.reject(Object.assign(new Error(answer.code), { code: answer.code }))
  }
}

/** The side of the main thread: what is to be told to the thread that asked. Never rejects. */
export function answerQuestion({ number, name, type }: Question, resolve: Resolve): Promise<QuestionAnswer> {
  return resolve(name, type).then(
    (records): QuestionAnswer => ({ kind: 'answer', number, records: plain(records) }),
    (error: unknown): QuestionAnswer => ({
      kind: 'fault',
      number,
      code: error instanceof Error && 'code' in error ? String(error.code) : 'unknown',
    }),
  )
}

/** Records as they can pass between threads, whatever a resolver made them of. */
const plain = (records: unknown): readonly unknown[] => JSON.parse(JSON.stringify([records].flat())) as readonly unknown[]
