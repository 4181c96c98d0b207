/** Questions to DNS: each is asked once, and a fault of DNS is kept apart from an answer that there is nothing. */
import type { QuestionType, Resolve } from './resolve.ts'

/** `none`: there is no such record; `exists` says whether the name is known at all. `fault`: unknown at the moment. */
export type Answer<R> =
  | { readonly kind: 'records'; readonly records: readonly R[] }
  | { readonly kind: 'none'; readonly exists: boolean }
  | { readonly kind: 'fault'; readonly code: string }

export interface MailExchange {
  readonly exchange: string
  readonly priority: number
}

/** One mail leads to so many questions at most; a mail that needs more is made to need them. */
const maxQuestions = 300
const nowhere: ReadonlySet<string> = new Set(['ENOTFOUND', 'EBADNAME', 'ENONAME'])

export class Questions {
  readonly #resolve: Resolve
  readonly #asked = new Map<string, Promise<readonly unknown[]>>()

  constructor(resolve: Resolve) {
    this.#resolve = resolve
  }

  /** The same question as before gets the same answer. Rejects like `Resolve`. */
  readonly resolve = (name: string, type: string): Promise<readonly unknown[]> => {
    const plain = name.toLowerCase().replace(/\.$/, '')
    const key = `${plain} ${type}`
    const before = this.#asked.get(key)
    if (before) return before
    const isOver = this.#asked.size >= maxQuestions
    const answer = isOver ? Promise.reject(coded('ETIMEOUT', 'too many questions')) : this.#ask(plain, type as QuestionType)
    answer.catch(() => undefined)
    this.#asked.set(key, answer)
    return answer
  }

  addresses = (name: string, family: 4 | 6): Promise<Answer<string>> => this.#answer(name, family === 4 ? 'A' : 'AAAA')

  names = (name: string, type: 'PTR' | 'CNAME'): Promise<Answer<string>> => this.#answer(name, type)

  exchanges = (name: string): Promise<Answer<MailExchange>> => this.#answer(name, 'MX')

  /** Each record as one text. */
  async texts(name: string): Promise<Answer<string>> {
    const answer = await this.#answer<string | readonly string[]>(name, 'TXT')
    if (answer.kind !== 'records') return answer
    return { kind: 'records', records: answer.records.map((record) => (typeof record === 'string' ? record : record.join(''))) }
  }

  /** Whether there is a record of that type. */
  any = (name: string, type: 'SOA' | 'TLSA'): Promise<Answer<unknown>> => this.#answer(name, type)

  async #answer<R>(name: string, type: QuestionType): Promise<Answer<R>> {
    if (!isName(name)) return { kind: 'none', exists: false }
    try {
      const records = (await this.resolve(name, type)) as readonly R[]
      return records.length > 0 ? { kind: 'records', records } : { kind: 'none', exists: true }
    } catch (error) {
      const code = codeOf(error)
      return isFault(error) ? { kind: 'fault', code } : { kind: 'none', exists: code === 'ENODATA' }
    }
  }

  /** In a turn of its own, so that a resolver that throws at once rejects. */
  async #ask(name: string, type: QuestionType): Promise<readonly unknown[]> {
    const records: unknown = await this.#resolve(name, type)
    // some types have one record and not a list of them
    return Array.isArray(records) ? (records as readonly unknown[]) : [records]
  }
}

/** mailauth takes any resolver of this form; its type names that of Node. */
export type MailauthResolver = (name: string, type: string) => Promise<never>

/** A resolver that knows afterwards whether DNS kept silent about something. */
export function watch(resolve: Questions['resolve']): { readonly resolver: MailauthResolver; readonly hasFault: () => boolean } {
  let hasFault = false
  const resolver = async (name: string, type: string): Promise<never> => {
    try {
      return (await resolve(name, type)) as never
    } catch (error) {
      hasFault ||= isFault(error)
      throw error
    }
  }
  return { resolver, hasFault: () => hasFault }
}

/** RFC 1035 §2.3.4; other names cannot exist. */
const isName = (name: string): boolean => {
  const plain = name.replace(/\.$/, '')
  return plain.length > 0 && plain.length <= 253 && plain.split('.').every((label) => label.length > 0 && label.length <= 63)
}

/** Whether DNS did not answer, in place of saying that there is nothing. */
const isFault = (error: unknown): boolean => codeOf(error) !== 'ENODATA' && !nowhere.has(codeOf(error))

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown'

const coded = (code: string, message: string): Error => Object.assign(new Error(message), { code })
