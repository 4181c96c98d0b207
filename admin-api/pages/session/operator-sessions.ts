/**
 * Sessions of operators: users whose verified address is in the configuration. Their changes must come from a page of this service and from
 * a recently confirmed session.
 */
import type { People } from '#core/people/people.ts'
import type { SignedIn } from '#core/people/sign-in/sessions.ts'
import type { CredentialRequest } from '../../credentials/credentials.ts'
import { requireSameOrigin } from '../../credentials/same-origin.ts'
import { BrowserSessions } from './browser-session.ts'

export class OperatorSessions {
  readonly #people: People
  readonly #browsers: BrowserSessions
  /** In lower case. */
  readonly #addresses: ReadonlySet<string>

  constructor(people: People, addresses: readonly string[]) {
    this.#people = people
    this.#browsers = new BrowserSessions(people)
    this.#addresses = new Set(addresses)
  }

  get areAny(): boolean {
    return this.#addresses.size > 0
  }

  /** An invited user who has not verified the address is not an operator. */
  has({ user: { email, isUnproved } }: Pick<SignedIn, 'user'>): boolean {
    return !isUnproved && this.#addresses.has(email)
  }

  /**
   * Returns the id of the operator of a session; undefined for all other requests. Throws `unauthorized` if the session must be confirmed.
   */
  readonly idOf = async ({ method, headers }: Pick<CredentialRequest, 'method' | 'headers'>): Promise<string | undefined> => {
    if (!this.areAny) return undefined
    const signedIn = await this.#browsers.read(headers)
    if (!signedIn || !this.has(signedIn)) return undefined
    if (method !== 'GET' && method !== 'HEAD') {
      requireSameOrigin(headers, this.#people.relyingParty.origin)
      this.#people.sessions.requireFresh(signedIn.session)
    }
    return signedIn.user.id
  }
}
