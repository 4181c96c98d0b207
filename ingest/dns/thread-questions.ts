/** Queries of a thread without network access, mostly DNS. The main thread answers them; each query has a number. */
import type { QuestionType, Resolve } from './resolve.ts'

export interface Question {
  readonly kind: 'question'
  readonly number: number
  readonly name: string
  readonly type: QuestionType
}

/** The answer to a query. `code` is an error code such as `ENOTFOUND`. */
export type QuestionAnswer =
  | { readonly kind: 'answer'; readonly number: number; readonly records: readonly unknown[] }
  | { readonly kind: 'fault'; readonly number: number; readonly code: string }

/** The thread's side. `Other` is the type of queries other than DNS. */
export class AskedQuestions<Other = never> {
  readonly #post: (question: Question | Other) => void
  readonly #waiting = new Map<number, PromiseWithResolvers<readonly unknown[]>>()
  #asked = 0

  constructor(post: (question: Question | Other) => void) {
    this.#post = post
  }

  readonly resolve: Resolve = (name, type) => this.ask((number) => ({ kind: 'question', number, name, type }))

  ask(question: (number: number) => Question | Other): Promise<readonly unknown[]> {
    const number = ++this.#asked
    const asked = Promise.withResolvers<readonly unknown[]>()
    this.#waiting.set(number, asked)
    this.#post(question(number))
    return asked.promise
  }

  receive(answer: QuestionAnswer): void {
    const question = this.#waiting.get(answer.number)
    this.#waiting.delete(answer.number)
    if (answer.kind === 'answer') question?.resolve(answer.records)
    else question?.reject(Object.assign(new Error(answer.code), { code: answer.code }))
  }
}

/** The main thread's side: resolves a DNS query and returns the answer for the thread. Never rejects. */
export const answerQuestion = ({ number, name, type }: Question, resolve: Resolve): Promise<QuestionAnswer> =>
  answerTo(number, resolve(name, type))

/** Turns any result or error into the answer for the thread. Never rejects. */
export function answerTo(number: number, found: Promise<unknown>): Promise<QuestionAnswer> {
  return found.then(
    (records): QuestionAnswer => ({ kind: 'answer', number, records: plain(records) }),
    (error: unknown): QuestionAnswer => ({
      kind: 'fault',
      number,
      code: error instanceof Error && 'code' in error ? String(error.code) : 'unknown',
    }),
  )
}

/** Copies records to plain values, because values of arbitrary classes cannot pass between threads. */
const plain = (records: unknown): readonly unknown[] => JSON.parse(JSON.stringify([records].flat())) as readonly unknown[]
