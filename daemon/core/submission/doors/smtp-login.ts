/** SMTP submission in the core: logins, reverse-path rules, and the call of `accept`. Spec "SMTP relay credential". */
import { Draft } from '#store/content.ts'
import type { Core } from '../../core.ts'
import type { LoginGuard } from '../../visitors/login-guard.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { RateWindow } from '../../visitors/rate-window.ts'
import type { Fairness } from '../../fairness/fairness.ts'
import type { Work } from '../../fairness/work.ts'
import type { KeyUses } from '../../access/keys/key-uses.ts'
import { smtpCredentials, type SmtpCredential } from '../../access/smtp-credential.ts'
import type { Resolver } from '../../outbound/resolver.ts'
import { projectNames, refusedLetter, smtpRefusedLetter, type Place } from '../../insights/count.ts'
import type { LateCounts } from '../../insights/late-counts.ts'
import { Refusal } from '../../refusals.ts'
import type { Policy } from '../../routing/policy/policy.ts'
import type { TrackingWish } from '../../tracking/message-tracking.ts'
import type { Accept } from '../accept/accept.ts'
import { DoorDraft } from '../accept/draft.ts'
import { fileScanFor } from '../accept/file-scan.ts'
import { authorOf } from './author.ts'
import { localAuthor, parseHeaders, type ParsedHeaders } from './headers.ts'
import { isPostmasterOf, ownsItsName, type Satellite } from './satellite.ts'
import { assertAllowedDomain, currentCredential, isAllowedDomain, isExpired, noticesPerHour } from './sender-rules.ts'
import type { SmtpDoor, SmtpLogin, SmtpMessage } from './smtp-door.ts'
import type { Acceptance, ContentFacts } from '../submission.ts'
import { wholeFacts } from '../whole/whole-facts.ts'

export interface SmtpDoorOptions extends Core {
  readonly accept: Accept
  readonly loginGuard: LoginGuard
  readonly lateCounts: Pick<LateCounts, 'count'>
  readonly uses: Pick<KeyUses, 'note'>
  /** Resolves the names that satellites claim in EHLO. */
  readonly resolver: Resolver
  /** Refuses while the service accepts no messages. */
  readonly admission: { check(): void }
  readonly fairness: Fairness
  /** Host name for Received fields. */
  readonly hostname: string
  readonly maxMessageBytes: number
  /** See `AuthorSettings`. */
  readonly localRecipient: string | null
}

/** Password hash that is compared for unknown users, so that the response takes the same time. */
const hashOfUnknownUser = ''
const maxPlaces = 10_000

interface CredentialMatch {
  readonly organizationId: string
  readonly credential: SmtpCredential
  readonly policy: Policy
}

export class SubmissionDoor implements SmtpDoor {
  readonly #options: SmtpDoorOptions
  /** Limits messages with the null reverse-path for each credential. */
  readonly #notices: RateWindow
  /** Caches the organization and credential id of each username. The policy decides whether the credential still exists. */
  readonly #places = new Map<string, { readonly organizationId: string; readonly id: string }>()

  constructor(options: SmtpDoorOptions) {
    this.#options = options
    this.#notices = new RateWindow(options, noticesPerHour)
  }

  checkOpen(): void {
    this.#options.admission.check()
  }

  async login(given: string, password: string, remoteAddress: string): Promise<SmtpLogin> {
    const { secrets, clock, loginGuard, lateCounts } = this.#options
    // usernames consist of lower-case letters and digits; clients may capitalize or pad them
    const username = given.trim().toLowerCase()
    const failures = await loginGuard.check(username, remoteAddress).catch((error: unknown) => {
      this.#countRefused(this.#findCached(username))
      throw error
    })
    const found = this.#findCached(username) ?? (await this.#find(username))
    const right = secrets.matches(password, found?.credential.passwordFingerprint ?? hashOfUnknownUser)
    const isGood = right && found !== undefined && !isExpired(found.credential, clock.now())
    if (!isGood) this.#countRefused(found)
    if (!isGood) throw await loginGuard.failed(username, remoteAddress)
    lateCounts.count(placeOf(found), projectNames.login)
    await loginGuard.succeeded(username, remoteAddress, failures)
    this.#options.uses.note(found.organizationId, found.credential)
    return new LiveLogin({ ...this.#options, notices: this.#notices, remoteAddress }, found.organizationId, found.credential)
  }

  /** Counts a refused login for its project and for the credential; tries of unknown users count nowhere. */
  #countRefused(found: CredentialMatch | undefined): void {
    const { lateCounts } = this.#options
    if (!found) return
    lateCounts.count(placeOf(found), projectNames.loginRefused)
    lateCounts.count(placeOf(found), projectNames.loginRefused, found.credential.id)
  }

  async #find(username: string): Promise<CredentialMatch | undefined> {
    const { database, policies } = this.#options
    const stored = await database.lookup(smtpCredentials, 'username', [username.slice(0, 256)])
    if (!stored) return undefined
    const { organizationId, record } = stored
    const policy = await policies.of(organizationId)
    const credential = policy.credentials.get(record.id)
    if (!credential) return undefined // deleted just now
    if (this.#places.size >= maxPlaces) this.#places.clear()
    this.#places.set(username, { organizationId, id: record.id })
    return { organizationId, credential, policy }
  }

  /** Finds the credential in the cache, because some sites log in for every message. */
  #findCached(username: string): CredentialMatch | undefined {
    const place = this.#places.get(username)
    const policy = place && this.#options.policies.cached(place.organizationId)
    const credential = place && policy?.credentials.get(place.id)
    return place && policy && credential?.username === username ? { organizationId: place.organizationId, credential, policy } : undefined
  }
}

type LoginOptions = SmtpDoorOptions & { readonly notices: RateWindow; readonly remoteAddress: string }

class LiveLogin implements SmtpLogin {
  readonly credentialId: string
  readonly username: string
  readonly #options: LoginOptions
  readonly #organizationId: string
  readonly #passwordHash: string
  #credential: SmtpCredential

  constructor(options: LoginOptions, organizationId: string, credential: SmtpCredential) {
    this.#options = options
    this.#organizationId = organizationId
    this.#credential = credential
    this.#passwordHash = credential.passwordFingerprint
    this.credentialId = credential.id
    this.username = credential.username
  }

  maxMessageBytes(): number {
    return Math.min(this.#credential.maxMessageBytes ?? Infinity, this.#options.maxMessageBytes)
  }

  checkMailFrom(address: string): void {
    try {
      this.#checkMailFrom(address)
    } catch (error) {
      this.#countRefused(error)
      throw error
    }
  }

  #checkMailFrom(address: string): void {
    this.#options.admission.check()
    const policy = this.#options.policies.cached(this.#organizationId)
    if (policy) this.#adopt(policy)
    // for the null reverse-path, the header From is checked
    if (address !== '') this.#checkDomain(address, 'MAIL FROM')
  }

  openDraft(): DoorDraft {
    const policy = this.#options.policies.cached(this.#organizationId)
    return new DoorDraft((traceId) => new Draft(this.#options.database, this.#organizationId, traceId), fileScanFor(policy?.organization))
  }

  openReading(): Work {
    return this.#work(true)
  }

  turn(): Promise<void> | undefined {
    return this.#work(true).turn()
  }

  async submit(message: SmtpMessage): Promise<Acceptance> {
    const work = this.#work(false)
    try {
      return await work.run(() => this.#submit(message))
    } finally {
      work.end()
    }
  }

  #work(waits: boolean): Work {
    const work = this.#options.fairness.begin({ address: this.#options.remoteAddress, kind: 'submission', waits })
    work.belongsTo({ credentialId: this.credentialId, organizationId: this.#organizationId })
    return work
  }

  async #submit(message: SmtpMessage): Promise<Acceptance> {
    const { traceId, files } = message.draft as DoorDraft
    const draft = (message.draft as DoorDraft).submit()
    try {
      const policy = await this.#options.policies.of(this.#organizationId)
      this.#adopt(policy)
      this.#checkMailFrom(message.mailFrom)
      this.#checkSize(draft.size)
      const parsed = parseHeaders(message.head)
      const isWhole = parsed.ended || message.head.length >= draft.size
      if (message.mailFrom === '') await this.#checkNotice(parsed, isWhole, message)
      else this.#checkHeaderFrom(parsed, isWhole)
      return await this.#options.accept.accept({
        door: 'smtp',
        principal: this.#scope(),
        projectId: this.#credential.projectId,
        traceId,
        mailFrom: message.mailFrom,
        rcptTo: message.rcptTo,
        facts: this.#facts(message, parsed, traceId),
        draft,
        attachments: files,
        destinationId: this.#credential.defaultDestinationId ?? undefined,
        environment: this.#credential.environment ?? undefined,
        submittedBy: this.credentialId,
        ratePerMinute: this.#credential.maxRatePerMin ?? undefined,
        verp: this.#credential.verpEnabled ? { bounceDomain: this.#credential.verpBounceDomain } : undefined,
        tracking: trackingOf(this.#credential),
        noticeTo: this.#author(policy, message, parsed.isAutomatic || !isWhole),
      })
    } catch (error) {
      this.#countRefused(error)
      await draft.discard()
      throw error
    }
  }

  /** Counts a refusal for all entry points, and for SMTP. */
  #countRefused(error: unknown): void {
    if (!(error instanceof Refusal)) return
    const place = { organizationId: this.#organizationId, projectId: this.#credential.projectId }
    for (const letter of [refusedLetter, smtpRefusedLetter]) this.#options.lateCounts.count(place, letter + error.code)
  }

  /** Applies rotation, revocation and new limits to a session that is already logged in. */
  #adopt(policy: Policy): void {
    const now = this.#options.clock.now()
    const isSame = ({ passwordFingerprint }: SmtpCredential): boolean => passwordFingerprint === this.#passwordHash
    this.#credential = currentCredential(policy, this.credentialId, now, isSame)
  }

  #checkDomain(address: string, what: string): void {
    assertAllowedDomain(this.#credential, address, what)
  }

  /** Checks the current limit, which may be lower than at login. */
  #checkSize(size: number): void {
    const most = this.maxMessageBytes()
    if (size > most) throw new Refusal('request_too_large', `The message has ${size} bytes; this SMTP credential allows ${most}.`)
  }

  /** `whole`: the parsed block is complete. */
  #checkHeaderFrom({ from, fromText, fromFields, otherSenders }: ParsedHeaders, whole: boolean): void {
    if (!this.#credential.enforceHeaderFrom || this.#credential.allowedFromDomains.length === 0) return
    if (!whole) throw new Refusal('sender_not_allowed', 'The header block is too long to find its From; use a shorter one.')
    if (fromFields !== 1)
      throw new Refusal('sender_not_allowed', 'The message needs exactly one From header field for this SMTP credential.')
    // an author without a domain, as cron writes it, claims no domain; MAIL FROM has passed the check
    if (from !== '') this.#checkDomain(from, 'The header From')
    else if (!localAuthor(fromText)) {
      const message = `The header From must contain exactly one address for this SMTP credential, and is ${quoted(fromText)}.`
      throw new Refusal('sender_not_allowed', message)
    }
    for (const sender of otherSenders) this.#checkDomain(sender, 'A Sender or Resent-From')
  }

  /** Checks a bounce of a satellite, which has no reverse-path (RFC 5321 §4.5.5). Counts it before the DNS lookup, to limit lookups too. */
  async #checkNotice({ from: written, fromText, otherSenders }: ParsedHeaders, whole: boolean, satellite: Satellite): Promise<void> {
    const from = written || noticeAuthor(fromText, satellite.helo)
    if (!whole || from === '')
      throw new Refusal('sender_not_allowed', 'A message with the null reverse-path needs exactly one From header field with one address.')
    const isOwnDomain = isAllowedDomain(this.#credential, from)
    if (!isOwnDomain && !isPostmasterOf(from, satellite.helo)) throw this.#foreignNotice(from)
    for (const sender of otherSenders) if (sender !== from) this.#checkDomain(sender, 'A Sender or Resent-From')
    await this.#options.notices.take(this.credentialId)
    const { allowedFromDomains: allowedDomains } = this.#credential
    if (!isOwnDomain && !(await ownsItsName(satellite, { ...this.#options, allowedDomains }))) throw this.#foreignNotice(from)
  }

  #foreignNotice(from: string): Refusal {
    const domains = this.#credential.allowedFromDomains.slice(0, 5).join(', ')
    const message = `A message with the null reverse-path must be from an address at ${domains}, or from the MAILER-DAEMON or postmaster of the name in EHLO, which DNS must know by the address of the client; ${from} is neither.`
    return new Refusal('sender_not_allowed', message)
  }

  #facts({ helo, protocol, eightBit, smtpUtf8 }: SmtpMessage, parsed: ParsedHeaders, traceId: string): ContentFacts {
    const { hostname, clock } = this.#options
    return wholeFacts(parsed, { traceId, nowMs: clock.now(), hostname, from: helo, protocol, eightBit, smtpUtf8 })
  }

  #author({ sendingDomains }: Policy, { mailFrom, remoteAddress: client }: SmtpMessage, isAutomatic: boolean): string | undefined {
    const { allowedFromDomains } = this.#credential
    return authorOf(this.#options, sendingDomains, { mailFrom, client, isAutomatic, allowedFromDomains, settings: this.#credential })
  }

  #scope(): Principal {
    return {
      organizationId: this.#organizationId,
      projectId: this.#credential.projectId,
      bound: true,
      scopes: ['api:send'],
      credentialId: this.credentialId,
    }
  }
}

/**
 * Returns the author of a bounce whose From has no domain, or is `<>` as in dma's bounces: an address at the satellite. Empty for other
 * text.
 */
function noticeAuthor(fromText: string, helo: string): string {
  const local = localAuthor(fromText)
  return local === undefined ? '' : `${local || 'postmaster'}@${helo}`
}

/** Quotes text for a reply: at most 80 characters, printable ASCII only. */
const placeOf = ({ organizationId, credential }: CredentialMatch): Place => ({ organizationId, projectId: credential.projectId })

const quoted = (text: string): string => JSON.stringify(text.slice(0, 80).replaceAll(/[^ -~]/g, '?'))

const trackingOf = ({ clickTrackingEnabled: clicks, openTrackingEnabled: opens }: SmtpCredential): TrackingWish | undefined =>
  clicks || opens ? { clicks, opens } : undefined
