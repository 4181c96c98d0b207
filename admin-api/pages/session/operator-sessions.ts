/**
 * The people who act as the operator of the service in a browser: those whose proven address the configuration names. What they change
 * comes from pages of this service, and from a session that was confirmed a short time ago.
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

  /** Whoever was invited with an address that they did not prove is no operator. */
  has({ user: { email, isUnproved } }: Pick<SignedIn, 'user'>): boolean {
    return !isUnproved && this.#addresses.has(email)
  }

  /** The id of the operator whose session it is; undefined for every other request. Throws `unauthorized` where a confirmation is due. */
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
