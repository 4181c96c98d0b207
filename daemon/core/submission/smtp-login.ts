/** The core behind the SMTP door: logins, reverse-path rules, and submission through `accept`. Spec "SMTP relay credential". */
import { Draft } from '#store/content.ts'
import type { Database } from '#store/database.ts'
import { LoginGuard } from '../access/login-guard.ts'
import type { Scope } from '../access/scope.ts'
import type { SecretBox } from '../access/secret-box.ts'
import { smtpCredentials, type SmtpCredential } from '../access/smtp-credential.ts'
import type { Clock } from '../clock.ts'
import { Refusal } from '../refusals.ts'
import type { Policies, Policy } from '../routing/policy.ts'
import type { TrackingWish } from '../tracking/tracking.ts'
import type { Accept } from './accept.ts'
import { rfc5322Date } from './compose.ts'
import { DoorDraft } from './draft.ts'
import { glanceAtHeaders, type HeaderGlance } from './headers.ts'
import { assertAllowedDomain, assertHasDestination, currentCredential, isExpired } from './sender-rules.ts'
import type { SmtpDoor, SmtpLogin, SmtpMessage } from './smtp-door.ts'
import type { Acceptance, ContentFacts } from './submission.ts'

export interface SmtpDoorOptions {
  readonly database: Database
  readonly policies: Policies
  readonly secrets: SecretBox
  readonly clock: Clock
  readonly accept: Accept
  /** Refuses when nothing may be accepted now. */
  readonly admission: { check(): void }
  /** Our name in Received. */
  readonly hostname: string
  readonly messageBytesMax: number
}

/** Compared for unknown users, so that the answer takes the same time. */
const nobodysFingerprint = ''
const placesMax = 10_000

interface Found {
  readonly organizationId: string
  readonly credential: SmtpCredential
  readonly policy: Policy
}

export class SubmissionDoor implements SmtpDoor {
  readonly #options: SmtpDoorOptions
  readonly #guard: LoginGuard
  /** Where the credentials of user names stand. Whether they are still there, the settings of now tell. */
  readonly #places = new Map<string, { readonly organizationId: string; readonly id: string }>()

  constructor(options: SmtpDoorOptions) {
    this.#options = options
    this.#guard = new LoginGuard(options.clock)
  }

  checkOpen(): void {
    this.#options.admission.check()
  }

  async login(username: string, password: string, remoteAddress: string): Promise<SmtpLogin> {
    this.#guard.check(username, remoteAddress)
    const { secrets, clock } = this.#options
    const found = this.#findAtHand(username) ?? (await this.#find(username))
    const right = secrets.matches(password, found?.credential.passwordFingerprint ?? nobodysFingerprint)
    if (!found || !right || isExpired(found.credential, clock.now())) {
      this.#guard.failed(username, remoteAddress)
      throw new Refusal('unauthorized', 'Login refused; check user name and password of the SMTP credential.')
    }
    this.#guard.succeeded(username, remoteAddress)
    return new LiveLogin(this.#options, found.organizationId, found.credential, found.policy)
  }

  async #find(username: string): Promise<Found | undefined> {
    const { database, policies } = this.#options
    const stored = await database.lookup(smtpCredentials, 'username', [username.slice(0, 256)])
    if (!stored) return undefined
    const { organizationId, record } = stored
    const policy = await policies.of(organizationId)
    const credential = policy.credentials.get(record.id)
    if (!credential) return undefined // deleted just now
    if (this.#places.size >= placesMax) this.#places.clear()
    this.#places.set(username, { organizationId, id: record.id })
    return { organizationId, credential, policy }
  }

  /** Sites that open a connection for each mail log in with each mail. */
  #findAtHand(username: string): Found | undefined {
    const place = this.#places.get(username)
    const policy = place && this.#options.policies.atHand(place.organizationId)
    const credential = place && policy?.credentials.get(place.id)
    return place && policy && credential?.username === username ? { organizationId: place.organizationId, credential, policy } : undefined
  }
}

class LiveLogin implements SmtpLogin {
  readonly credentialId: string
  readonly username: string
  readonly #options: SmtpDoorOptions
  readonly #organizationId: string
  readonly #fingerprint: string
  #credential: SmtpCredential
  #hasOrgDefault: boolean

  constructor(options: SmtpDoorOptions, organizationId: string, credential: SmtpCredential, policy: Policy) {
    this.#options = options
    this.#organizationId = organizationId
    this.#credential = credential
    this.#hasOrgDefault = policy.orgDefault !== undefined
    this.#fingerprint = credential.passwordFingerprint
    this.credentialId = credential.id
    this.username = credential.username
  }

  maxMessageBytes(): number {
    return Math.min(this.#credential.maxMessageBytes ?? Infinity, this.#options.messageBytesMax)
  }

  checkMailFrom(address: string): void {
    this.#options.admission.check()
    const policy = this.#options.policies.atHand(this.#organizationId)
    if (policy) this.#adopt(policy)
    assertHasDestination(this.#credential, this.#hasOrgDefault)
    this.#checkDomain(address, 'MAIL FROM')
  }

  openDraft(): DoorDraft {
    return new DoorDraft((traceId) => new Draft(this.#options.database, this.#organizationId, traceId))
  }

  async submit(message: SmtpMessage): Promise<Acceptance> {
    const { traceId } = message.draft as DoorDraft
    const draft = (message.draft as DoorDraft).submit()
    try {
      this.#adopt(await this.#options.policies.of(this.#organizationId))
      this.checkMailFrom(message.mailFrom)
      this.#checkSize(draft.size)
      const glance = glanceAtHeaders(message.head)
      this.#checkHeaderFrom(glance, glance.ended || message.head.length >= draft.size)
      return await this.#options.accept.accept({
        door: 'smtp',
        scope: this.#scope(),
        projectId: this.#credential.projectId,
        traceId,
        mailFrom: message.mailFrom,
        rcptTo: message.rcptTo,
        facts: this.#facts(message, glance, traceId),
        draft,
        destinationId: this.#credential.defaultDestinationId ?? undefined,
        submittedBy: this.credentialId,
        ratePerMinute: this.#credential.maxRatePerMin ?? undefined,
        verp: this.#credential.verpEnabled ? { bounceDomain: this.#credential.verpBounceDomain } : undefined,
        tracking: trackingOf(this.#credential),
      })
    } catch (error) {
      await draft.discard()
      throw error
    }
  }

  /** Rotation, revocation and new limits act on sessions that are already logged in. */
  #adopt(policy: Policy): void {
    const now = this.#options.clock.now()
    const isSame = ({ passwordFingerprint }: SmtpCredential): boolean => passwordFingerprint === this.#fingerprint
    this.#credential = currentCredential(policy, this.credentialId, now, isSame)
    this.#hasOrgDefault = policy.orgDefault !== undefined
  }

  #checkDomain(address: string, what: string): void {
    assertAllowedDomain(this.#credential, address, what)
  }

  /** The door knows the limit of the login; it may have been lowered since. */
  #checkSize(size: number): void {
    const most = this.maxMessageBytes()
    if (size > most) throw new Refusal('request_too_large', `The message has ${size} bytes; this SMTP credential may send ${most}.`)
  }

  /** `whole`: no field stands behind what was looked at. */
  #checkHeaderFrom({ from, fromFields, otherSenders }: HeaderGlance, whole: boolean): void {
    if (!this.#credential.enforceHeaderFrom || this.#credential.allowedFromDomains.length === 0) return
    if (!whole) throw new Refusal('sender_not_allowed', 'The header block is too long to find its From; use a shorter one.')
    if (fromFields !== 1)
      throw new Refusal('sender_not_allowed', 'The message needs exactly one From header field for this SMTP credential.')
    if (from === '') throw new Refusal('sender_not_allowed', 'The header From must hold exactly one address for this SMTP credential.')
    this.#checkDomain(from, 'The header From')
    for (const sender of otherSenders) this.#checkDomain(sender, 'A Sender or Resent-From')
  }

  #facts({ helo, protocol, eightBit }: SmtpMessage, glance: HeaderGlance, traceId: string): ContentFacts {
    const { hostname, clock } = this.#options
    const date = rfc5322Date(clock.now())
    const received = `Received: from ${helo.replaceAll(/[^\w.:[\]-]/g, '?').slice(0, 255) || 'unknown'}\r\n\tby ${hostname} (Postern) with ${protocol} id ${traceId};\r\n\t${date}\r\n`
    const messageId = glance.messageId || `${traceId}@${hostname}`
    const missing = (glance.messageId ? '' : `Message-ID: <${messageId}>\r\n`) + (glance.hasDate ? '' : `Date: ${date}\r\n`)
    const { subject, from, addresses, utf8 } = glance
    return { prefix: received + missing, subject, messageId, headerFrom: from, headerAddresses: addresses, eightBit, utf8Headers: utf8 }
  }

  #scope(): Scope {
    return {
      organizationId: this.#organizationId,
      projectId: this.#credential.projectId,
      bound: true,
      rights: ['api:send'],
      grantId: this.credentialId,
    }
  }
}

const trackingOf = ({ clickTrackingEnabled: clicks, openTrackingEnabled: opens }: SmtpCredential): TrackingWish | undefined =>
  clicks || opens ? { clicks, opens } : undefined
