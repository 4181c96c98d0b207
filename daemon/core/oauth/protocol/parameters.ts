/** Parameters of a request. Repeated parameters are errors, and empty parameters count as absent (RFC 6749 §3.1, RFC 6749 §3.2). */
import { OAuthError } from './oauth-error.ts'

/** This parameter can be repeated (RFC 8707 §2). */
const repeatable = 'resource'

export class Parameters {
  readonly #values: URLSearchParams

  constructor(values: URLSearchParams) {
    this.#values = values
  }

  /** Returns undefined for an absent parameter. Throws `invalid_request` for a repeated parameter. */
  get(name: string): string | undefined {
    const [value, ...more] = this.#values.getAll(name)
    if (more.length > 0) throw new OAuthError('invalid_request', `The parameter ${name} must not be repeated.`)
    return value === '' ? undefined : value
  }

  /** Throws `invalid_request` for an absent parameter. */
  need(name: string): string {
    const value = this.get(name)
    if (value === undefined) throw new OAuthError('invalid_request', `The parameter ${name} is missing.`)
    return value
  }

  /** Returns the requested resources without duplicates. */
  get resources(): readonly string[] {
    return [...new Set(this.#values.getAll(repeatable).filter((value) => value !== ''))]
  }

  /** Throws `invalid_request` if any parameter is repeated, including unknown parameters. */
  assertOnce(): void {
    const names = [...this.#values.keys()].filter((name) => name !== repeatable)
    if (new Set(names).size < names.length) throw new OAuthError('invalid_request', 'Parameters must not be repeated.')
  }
}
