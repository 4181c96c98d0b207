/** Sessions: a sign-in begins one, a cookie identifies it, and the user or its expiry ends it. */
import { Change } from '#store/change.ts'
import type { Stored } from '#store/record-kind.ts'
import { timingSafeEqual } from 'node:crypto'
import type { Core } from '../../core.ts'
import { Refusal } from '../../refusals.ts'
import { hashSecret, newSecret } from '../users/secret-token.ts'
import { sessions, type Session, type SignInMethod } from './session.ts'
import { userById, type User } from '../users/user.ts'

/** The browser that signs in. */
export interface Browser {
  readonly userAgent: string
  /** Session cookie of the request; the sign-in ends the session of this cookie. */
  readonly cookie: string | undefined
}

/** A new session with its cookie, which the service cannot show later. */
export interface BegunSession {
  readonly session: Session
  readonly cookie: string
}

/** User and session of a request. */
export interface SignedIn {
  readonly user: User
  readonly session: Session
  /** The session was extended, so the cookie must be extended, too. */
  readonly wasProlonged: boolean
}

/** Lifetime of a session after its last request. */
export const sessionMs = 14 * 24 * 3_600_000
/** `seenAt` is updated at most once in this interval. */
const seenEveryMs = 3_600_000
/** Actions that are hard to undo need a proof of identity within this time. */
const freshMs = 10 * 60_000
const maxUserAgent = 300
const cookiePattern = /^(usr_[0-9a-f]{32})\.([A-Za-z0-9_-]{43})$/

export class Sessions {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** Adds a session with a new secret to the write, and ends the browser's previous session. */
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

  /** Returns the user and session of a cookie. Returns undefined for invalid and expired cookies. */
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
    const { ok } = await database.commit(change) // if it fails, another request extended the session, or its user ended it
    return ok ? { user, session, wasProlonged: true } : this.read(cookie)
  }

  /** Returns active sessions, most recently seen first. */
  async list(userId: string): Promise<Session[]> {
    const now = this.#core.clock.now()
    const rows = await this.#core.database.all(sessions, { organizationId: userId }, 'shown')
    return rows
      .map(({ record }) => record)
      .filter(({ expiresAt }) => expiresAt > now)
      .toSorted((a, b) => b.seenAt - a.seenAt || b.createdAt - a.createdAt)
  }

  /** Ends one session of the user. Returns the number of ended sessions; a missing session is not an error. */
  revoke(userId: string, sessionId: string): Promise<number> {
    return this.#end(userId, ({ id }) => id === sessionId)
  }

  /** Ends every session of the user except `sessionId`. Returns their number. */
  revokeOthers(userId: string, sessionId: string): Promise<number> {
    return this.#end(userId, ({ id }) => id !== sessionId)
  }

  /** Returns whether the user proved their identity within the last ten minutes. */
  isFresh(session: Session): boolean {
    return this.confirmedForMs(session) > 0
  }

  /** Returns the remaining milliseconds of that proof; 0 after its end. */
  confirmedForMs({ provedAt }: Session): number {
    return Math.max(0, provedAt + freshMs - this.#core.clock.now())
  }

  /** Throws `unauthorized` unless the session is fresh. Required for actions that are hard to undo. */
  requireFresh(session: Session): void {
    if (this.isFresh(session)) return
    throw new Refusal('unauthorized', 'Confirm that it is you: sign in again.', { nextAction: 'sign_in_again' })
  }

  /** Returns the token that every form of the session contains. */
  csrfToken({ id }: Session): string {
    return this.#core.secrets.mac('form', Buffer.from(id)).toString('base64url')
  }

  /** Throws `insufficient_scope` if the form was not sent from a page of this session. */
  requireCsrfToken(session: Session, token: string): void {
    const [given, own] = [Buffer.from(token), Buffer.from(this.csrfToken(session))]
    if (given.length === own.length && timingSafeEqual(given, own)) return
    throw new Refusal('insufficient_scope', 'This form belongs to an earlier session; open the page again and retry.')
  }

  /** Adds the end of all sessions of the user to the write. Returns their number. */
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
