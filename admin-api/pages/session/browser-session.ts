/** Reads and writes the session cookie of a browser. RFC 6265 §4.1. */
import type { IncomingHttpHeaders } from 'node:http'
import type { People } from '#core/people/people.ts'
import { sessionMs, type Browser, type SignedIn } from '#core/people/sign-in/sessions.ts'
import { Answer } from '../../operation/answer.ts'
import type { Visitor } from '../layout/layout.ts'

export class BrowserSessions {
  readonly #people: People
  readonly #name: string
  readonly #attributes: string

  constructor(people: People) {
    const { isHttps } = people.relyingParty
    this.#people = people
    // with the prefix, browsers refuse the cookie from other hosts and over insecure connections
    this.#name = isHttps ? '__Host-postern' : 'postern_session'
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${isHttps ? '; Secure' : ''}`
  }

  get cookieName(): string {
    return this.#name
  }

  /** Returns the signed-in user; undefined for anonymous requests. */
  read(headers: IncomingHttpHeaders): Promise<SignedIn | undefined> | undefined {
    const cookie = this.#cookieOf(headers)
    return cookie === undefined ? undefined : this.#people.sessions.read(cookie)
  }

  browserOf(headers: IncomingHttpHeaders): Browser {
    return { userAgent: headers['user-agent'] ?? '', cookie: this.#cookieOf(headers) }
  }

  visitorOf({ user, session }: SignedIn): Visitor {
    return { email: user.email, csrfToken: this.#people.sessions.csrfToken(session) }
  }

  /** Returns the header that extends the session of this request to its full duration from now on. */
  keepAsLong(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
    const cookie = this.#cookieOf(headers)
    return cookie === undefined ? {} : this.keep(cookie)
  }

  /** Returns the header that stores a session in the browser. */
  keep(cookie: string): Readonly<Record<string, string>> {
    return { 'set-cookie': `${this.#name}=${cookie}; Max-Age=${sessionMs / 1000}; ${this.#attributes}` }
  }

  /** Adds the cookie to the response if the session was just extended. */
  kept(answer: Answer, signedIn: SignedIn | undefined, headers: IncomingHttpHeaders): Answer {
    const cookie = signedIn?.wasProlonged ? this.#cookieOf(headers) : undefined
    if (cookie === undefined) return answer
    const { body, contentType, status } = answer
    return new Answer(body, contentType, { ...(status !== undefined && { status }), headers: { ...this.keep(cookie), ...answer.headers } })
  }

  /** Returns the header that removes the cookie. */
  forget(): Readonly<Record<string, string>> {
    return { 'set-cookie': `${this.#name}=; Max-Age=0; ${this.#attributes}` }
  }

  #cookieOf({ cookie = '' }: IncomingHttpHeaders): string | undefined {
    const found = cookie.split(';').map((part) => part.trim())
    return found.find((part) => part.startsWith(`${this.#name}=`))?.slice(this.#name.length + 1)
  }
}
