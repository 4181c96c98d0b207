/** Sessions: begun by a sign-in, carried by a cookie, ended by their user or by time. */
import { Change } from '#store/change.ts'
import type { Stored } from '#store/record-kind.ts'
import { timingSafeEqual } from 'node:crypto'
import type { Core } from '../../core.ts'
import { Refusal } from '../../refusals.ts'
import { hashSecret, newSecret } from '../users/secret-token.ts'
import { sessions, type Session, type SignInMethod } from './session.ts'
import { userById, type User } from '../users/user.ts'

/** Where a sign-in comes from. */
export interface Browser {
  readonly userAgent: string
  /** The value of the cookie that came with the request: that session ends with the sign-in. */
  readonly cookie: string | undefined
}

/** The only time that the value of the cookie is known. */
export interface BegunSession {
  readonly session: Session
  readonly cookie: string
}

/** A request with a session. */
export interface SignedIn {
  readonly user: User
  readonly session: Session
  /** The session was just prolonged, and the cookie should be too. */
  readonly wasProlonged: boolean
}

/** A session lasts so long after it was last seen. */
export const sessionMs = 14 * 24 * 3_600_000
/** Being seen is written once in this time. */
const seenEveryMs = 3_600_000
/** What is hard to undo needs a proof of identity not older than this. */
const freshMs = 10 * 60_000
const maxUserAgent = 300
const cookiePattern = /^(usr_[0-9a-f]{32})\.([A-Za-z0-9_-]{43})$/

export class Sessions {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** Adds a new session to the write, always with a new secret, and ends the one of the browser. */
  async begin(change: Change, userId: string, method: SignInMethod, browser: Browser): Promise<BegunSession> {
    const now = this.#core.clock.now()
    const secret = newSecret()
    const session: Session = {
      id: `ses_${hashSecret(secret)}`,
      userId,
      method,
      userAgent: browser.userAgent.replaceAll(/[^\u0020-\u007e]/g, '').slice(0, maxUserAgent),
      createdAt: now,
      provedAt: now,
      seenAt: now,
      expiresAt: now + sessionMs,
    }
    const before = browser.cookie === undefined ? undefined : await this.#find(browser.cookie)
    if (before) change.remove(sessions, before.record.userId, before)
    expiring(change.insert(sessions, userId, session), session)
    return { session, cookie: `${userId}.${secret}` }
  }

  /** The user and session of a cookie; undefined for one that does not work. */
  async read(cookie: string): Promise<SignedIn | undefined> {
    const { clock, database } = this.#core
    const stored = await this.#find(cookie)
    const now = clock.now()
    if (!stored || stored.record.expiresAt <= now) return undefined
    const user = await userById(database, stored.record.userId)
    if (!user) return undefined
    if (now - stored.record.seenAt < seenEveryMs) return { user, session: stored.record, wasProlonged: false }
    const session = { ...stored.record, seenAt: now, expiresAt: now + sessionMs }
    const change = expiring(new Change().rewrite(sessions, user.id, stored, session), session)
    const { ok } = await database.commit(change) // otherwise another request prolonged it, or its user ended it
    return ok ? { user, session, wasProlonged: true } : this.read(cookie)
  }

  /** Those that work, the last seen first. */
  async list(userId: string): Promise<Session[]> {
    const now = this.#core.clock.now()
    const rows = await this.#core.database.all(sessions, { organizationId: userId }, 'shown')
    return rows
      .map(({ record }) => record)
      .filter(({ expiresAt }) => expiresAt > now)
      .toSorted((a, b) => b.seenAt - a.seenAt || b.createdAt - a.createdAt)
  }

  /** Ends one session of the user. Returns how many there were, as one that is gone already is no mistake. */
  revoke(userId: string, sessionId: string): Promise<number> {
    return this.#end(userId, ({ id }) => id === sessionId)
  }

  /** Ends every session of the user but the named one. Returns how many there were. */
  revokeOthers(userId: string, sessionId: string): Promise<number> {
    return this.#end(userId, ({ id }) => id !== sessionId)
  }

  /** Whether the user proved who they are in the last ten minutes. */
  isFresh(session: Session): boolean {
    return this.confirmedForMs(session) > 0
  }

  /** How much longer that proof counts; 0 when it no longer does. */
  confirmedForMs({ provedAt }: Session): number {
    return Math.max(0, provedAt + freshMs - this.#core.clock.now())
  }

  /** Throws `unauthorized` unless the session is fresh; what is hard to undo begins with this. */
  requireFresh(session: Session): void {
    if (this.isFresh(session)) return
    throw new Refusal('unauthorized', 'Confirm that it is you: sign in again.', { nextAction: 'sign_in_again' })
  }

  /** The token that every form of the session carries. */
  csrfToken({ id }: Session): string {
    return this.#core.secrets.mac('form', Buffer.from(id)).toString('base64url')
  }

  /** Throws `insufficient_scope` when a form did not come from a page of this session. */
  requireCsrfToken(session: Session, token: string): void {
    const [given, own] = [Buffer.from(token), Buffer.from(this.csrfToken(session))]
    if (given.length === own.length && timingSafeEqual(given, own)) return
    throw new Refusal('insufficient_scope', 'This form belongs to an earlier session; open the page again and retry.')
  }

  /** Adds to the write that every session of the user ends. Returns how many there were. */
  endAllIn(change: Change, userId: string): Promise<number> {
    return this.#endIn(change, userId, () => true)
  }

  #end(userId: string, which: (session: Session) => boolean): Promise<number> {
    return this.#core.writes.run(userId, (change) => this.#endIn(change, userId, which))
  }

  async #endIn(change: Change, userId: string, which: (session: Session) => boolean): Promise<number> {
    const rows = await this.#core.database.all(sessions, { organizationId: userId })
    const ending = rows.filter(({ record }) => which(record))
    for (const stored of ending) change.remove(sessions, userId, stored)
    return ending.length
  }

  async #find(cookie: string): Promise<Stored<Session> | undefined> {
    const [, userId = '', secret = ''] = cookiePattern.exec(cookie) ?? []
    return userId === '' ? undefined : this.#core.database.get(sessions, { organizationId: userId }, `ses_${hashSecret(secret)}`)
  }
}

const expiring = (change: Change, { userId, id, expiresAt }: Session): Change => change.expire(expiresAt, [userId, sessions.name, id])
