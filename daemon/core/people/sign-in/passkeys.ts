/** Registers, lists and removes passkeys, and signs users in with them. WebAuthn Level 3 §7. */
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { Change } from '#store/change.ts'
import type { Stored } from '#store/record-kind.ts'
import * as z from 'zod'
import type { Core } from '../../core.ts'
import { Refusal } from '../../refusals.ts'
import type { Challenges } from './challenges.ts'
import { passkeys, type Passkey } from './passkey.ts'
import type { RelyingParty } from './relying-party.ts'
import type { Session } from './session.ts'
import type { BegunSession, Browser, Sessions } from './sessions.ts'
import { noteSignIn, peoplePartition, userById, users, type User } from '../users/user.ts'

/** Sends mail to users about changes of their passkeys. */
export interface PasskeyNotices {
  passkeyAdded(user: User, passkey: Passkey): void
  passkeyRemoved(user: User, passkey: Passkey): void
}

export interface PasskeyOptions extends Core {
  readonly sessions: Sessions
  readonly challenges: Challenges
  readonly relyingParty: RelyingParty
  readonly notices: PasskeyNotices
}

/** Loaded on first use: the package takes 10 MB of memory, which a service without passkey users saves. */
const webauthn = () => import('@simplewebauthn/server')

const maxPasskeys = 20
/** EdDSA, ES256 and RS256 (RFC 9053 §2, RFC 8812 §2). Every authenticator supports at least one. */
const algorithms = [-8, -7, -257]
const signInPurpose = 'sign in'
const registerPurpose = (userId: string): string => `register ${userId}`

/** Fields of an answer that the service reads without verification, to select the passkey. */
const answerShape = z.looseObject({
  id: z.string().max(2000),
  response: z.looseObject({ clientDataJSON: z.string().max(10_000), userHandle: z.string().max(200).optional() }),
})

export class Passkeys {
  readonly #options: PasskeyOptions

  constructor(options: PasskeyOptions) {
    this.#options = options
  }

  /** Returns whether browsers support passkeys at the service's URL. */
  get areAvailable(): boolean {
    return this.#options.relyingParty.id !== undefined
  }

  /** Returns the options for creating a passkey, as JSON for WebAuthn Level 3 §5.1.9. */
  async creationOptions(user: User): Promise<string> {
    const { challenges, clock } = this.#options
    const { generateRegistrationOptions } = await webauthn()
    const options = await generateRegistrationOptions({
      rpName: 'Postern',
      rpID: this.#id(),
      userName: user.email,
      userDisplayName: user.name || user.email,
      userID: new Uint8Array(Buffer.from(user.id)),
      challenge: challenges.issue(registerPurpose(user.id), clock.now()),
      attestationType: 'none',
      supportedAlgorithmIDs: algorithms,
      excludeCredentials: (await this.list(user.id)).map(({ id, transports }) => ({ id, transports: [...transports] })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    })
    return JSON.stringify(options)
  }

  /** Returns the options for signing in with any passkey of this service, as JSON for WebAuthn Level 3 §5.1.10. */
  async requestOptions(): Promise<string> {
    const { challenges, clock } = this.#options
    const { generateAuthenticationOptions } = await webauthn()
    const challenge = challenges.issue(signInPurpose, clock.now())
    return JSON.stringify(await generateAuthenticationOptions({ rpID: this.#id(), challenge, userVerification: 'required' }))
  }

  /** Stores a passkey that the browser created. Requires a fresh session. Throws `validation_failed` if the answer does not verify. */
  async register(user: User, session: Session, name: string, answer: string): Promise<Passkey> {
    const { sessions, writes, clock, challenges, notices } = this.#options
    sessions.requireFresh(session)
    const now = clock.now()
    const { challenge, made } = await this.#verifyNew(user, answer, now)
    const { credential, credentialBackedUp } = made
    const passkey: Passkey = {
      id: credential.id,
      userId: user.id,
      name,
      publicKey: Buffer.from(credential.publicKey).toString('base64url'),
      counter: credential.counter,
      transports: credential.transports ?? [],
      isSynced: credentialBackedUp,
      createdAt: now,
      usedAt: null,
    }
    await writes.run(user.id, async (change) => {
      if ((await this.list(user.id)).length >= maxPasskeys)
        throw new Refusal('conflict', `You have ${maxPasskeys} passkeys; remove one first.`)
      if (await this.#options.database.lookup(passkeys, 'id', [passkey.id])) throw unverified()
      challenges.use(change, challenge, now)
      change.insert(passkeys, user.id, passkey)
    })
    notices.passkeyAdded(user, passkey)
    return passkey
  }

  /** Oldest first. */
  async list(userId: string): Promise<Passkey[]> {
    const rows = await this.#options.database.all(passkeys, { organizationId: userId }, 'shown')
    return rows.map(({ record }) => record).toSorted((a, b) => a.createdAt - b.createdAt)
  }

  /** Removes a passkey. Requires a fresh session; a missing passkey is not an error. */
  async remove(user: User, session: Session, id: string): Promise<void> {
    const { sessions, writes, database, notices } = this.#options
    sessions.requireFresh(session)
    const removed = await writes.run(user.id, async (change) => {
      const stored = await database.get(passkeys, { organizationId: user.id }, id)
      if (stored) change.remove(passkeys, user.id, stored)
      return stored?.record
    })
    if (removed) notices.passkeyRemoved(user, removed)
  }

  /** Adds the removal of all passkeys of the user to the write. */
  async removeAllIn(change: Change, userId: string): Promise<void> {
    const rows = await this.#options.database.all(passkeys, { organizationId: userId })
    for (const stored of rows) change.remove(passkeys, userId, stored)
  }

  /** Signs the owner of the passkey in. Throws `unauthorized` with the same message for every failure. */
  async signIn(answer: string, browser: Browser): Promise<BegunSession> {
    const { clock, writes, challenges, sessions, database } = this.#options
    const parsed = readAnswer(answer)
    const userId = Buffer.from(parsed?.response.userHandle ?? '', 'base64url').toString()
    if (!parsed || !/^usr_[0-9a-f]{32}$/.test(userId)) throw refused()
    return writes.run(userId, async (change) => {
      const now = clock.now()
      const stored = await database.get(passkeys, { organizationId: userId }, parsed.id)
      if (!stored) throw refused()
      const { challenge, counter } = await this.#verify(stored, parsed as unknown as AuthenticationResponseJSON, now)
      const user = await database.get(users, { organizationId: peoplePartition }, userId)
      if (!user) throw refused()
      challenges.use(change, challenge, now)
      change.rewrite(passkeys, userId, stored, { ...stored.record, counter, usedAt: now })
      noteSignIn(change, user, now)
      return sessions.begin(change, userId, 'passkey', browser)
    })
  }

  async #verify({ record }: Stored<Passkey>, response: AuthenticationResponseJSON, now: number) {
    const { relyingParty, challenges, database } = this.#options
    const { verifyAuthenticationResponse } = await webauthn()
    let challenge = ''
    const checked = await verifyAuthenticationResponse({
      response,
      expectedChallenge: (given) => challenges.isGood((challenge = given), signInPurpose, now),
      expectedOrigin: relyingParty.origin,
      expectedRPID: this.#id(),
      credential: { id: record.id, publicKey: new Uint8Array(Buffer.from(record.publicKey, 'base64url')), counter: record.counter },
    }).catch(() => undefined)
    if (!checked?.verified || (await challenges.wasUsed(database, challenge))) throw refused()
    return { challenge, counter: checked.authenticationInfo.newCounter }
  }

  async #verifyNew(user: User, answer: string, now: number) {
    const { relyingParty, challenges, database } = this.#options
    const parsed = readAnswer(answer)
    const { verifyRegistrationResponse } = await webauthn()
    let challenge = ''
    const checked =
      parsed &&
      (await verifyRegistrationResponse({
        response: parsed as unknown as RegistrationResponseJSON,
        expectedChallenge: (given) => challenges.isGood((challenge = given), registerPurpose(user.id), now),
        expectedOrigin: relyingParty.origin,
        expectedRPID: this.#id(),
        supportedAlgorithmIDs: algorithms,
      }).catch(() => undefined))
    if (!checked?.verified || (await challenges.wasUsed(database, challenge)) || !(await userById(database, user.id))) throw unverified()
    return { challenge, made: checked.registrationInfo }
  }

  #id(): string {
    const { id } = this.#options.relyingParty
    if (id === undefined) throw new Refusal('feature_disabled', 'Passkeys require a public URL with https and a host name.')
    return id
  }
}

function readAnswer(text: string): z.output<typeof answerShape> | undefined {
  try {
    return answerShape.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

const refused = (): Refusal => new Refusal('unauthorized', 'This passkey is no longer valid here; sign in by email.')
const unverified = (): Refusal =>
  new Refusal('validation_failed', 'The browser did not create a usable passkey; open your account again and retry.')
