/** DNS queries of one mail: each query is sent once, and a DNS fault is distinguished from a missing record. */
import type { QuestionType, Resolve } from './resolve.ts'

/** `none`: the record is missing; `exists` is true if the name has other records. `fault`: DNS did not answer. */
export type Answer<R> =
  | { readonly kind: 'records'; readonly records: readonly R[] }
  | { readonly kind: 'none'; readonly exists: boolean }
  | { readonly kind: 'fault'; readonly code: string }

export interface MailExchange {
  readonly exchange: string
  readonly priority: number
}

/** Limit of DNS queries for one mail. Only a mail built for that purpose needs more. */
const maxQuestions = 300
const nowhere: ReadonlySet<string> = new Set(['ENOTFOUND', 'EBADNAME', 'ENONAME'])

export class Questions {
  readonly #resolve: Resolve
  readonly #asked = new Map<string, Promise<readonly unknown[]>>()

  constructor(resolve: Resolve) {
    this.#resolve = resolve
  }

  /** Sends a query, or returns the result of an equal earlier query. Rejects like `Resolve`. */
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

  /** TXT records, each joined to one text. */
  async texts(name: string): Promise<Answer<string>> {
    const answer = await this.#answer<string | readonly string[]>(name, 'TXT')
    if (answer.kind !== 'records') return answer
    return { kind: 'records', records: answer.records.map((record) => (typeof record === 'string' ? record : record.join(''))) }
  }

  /** The SOA or TLSA records of a name. */
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

  /** An async function, so that a resolver that throws synchronously causes a rejection. */
  async #ask(name: string, type: QuestionType): Promise<readonly unknown[]> {
    const records: unknown = await this.#resolve(name, type)
    // for some types Node returns a single record instead of an array
    return Array.isArray(records) ? (records as readonly unknown[]) : [records]
  }
}

/** mailauth accepts any resolver of this form, but its type requires that of Node. */
export type MailauthResolver = (name: string, type: string) => Promise<never>

/** Wraps a resolver. `hasFault` reports whether a query failed because of a DNS fault. */
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

/** Reports whether a name can exist in DNS (RFC 1035 §2.3.4). */
const isName = (name: string): boolean => {
  const plain = name.replace(/\.$/, '')
  return plain.length > 0 && plain.length <= 253 && plain.split('.').every((label) => label.length > 0 && label.length <= 63)
}

/** Reports whether an error is a DNS fault, as opposed to a missing record or name. */
const isFault = (error: unknown): boolean => codeOf(error) !== 'ENODATA' && !nowhere.has(codeOf(error))

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown'

const coded = (code: string, message: string): Error => Object.assign(new Error(message), { code })
