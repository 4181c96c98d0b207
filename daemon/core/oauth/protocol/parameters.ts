/** Parameters of a request: each at most once, and one without a value is none (RFC 6749 §3.1, RFC 6749 §3.2). */
import { OAuthError } from './oauth-error.ts'

/** May come more than once (RFC 8707 §2). */
const repeatable = 'resource'

export class Parameters {
  readonly #values: URLSearchParams

  constructor(values: URLSearchParams) {
    this.#values = values
  }

  /** Undefined when it was not given. Throws `invalid_request` when it was given twice. */
  get(name: string): string | undefined {
    const [value, ...more] = this.#values.getAll(name)
    if (more.length > 0) throw new OAuthError('invalid_request', `The parameter ${name} must be given once.`)
    return value === '' ? undefined : value
  }

  /** Throws `invalid_request` when it is missing. */
  need(name: string): string {
    const value = this.get(name)
    if (value === undefined) throw new OAuthError('invalid_request', `The parameter ${name} is missing.`)
    return value
  }

  /** The resources that were named, each once. */
  get resources(): readonly string[] {
    return [...new Set(this.#values.getAll(repeatable).filter((value) => value !== ''))]
  }

  /** Throws `invalid_request` when any parameter was given twice, whether it means something here or not. */
  assertOnce(): void {
    const names = [...this.#values.keys()].filter((name) => name !== repeatable)
    if (new Set(names).size < names.length) throw new OAuthError('invalid_request', 'Each parameter must be given once.')
  }
}
