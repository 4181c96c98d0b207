/** Sends a message for a web page: runs the gates of the publishable key in the specified order, then sends like the REST API. */
import { hash } from 'node:crypto'
import type { Principal } from '../../access/principal/principal.ts'
import { parseMailbox, type Mailbox } from '../../addresses.ts'
import { maxCaptchaToken, failed as captchaFailed, type Captchas } from '../../visitors/captcha.ts'
import { checkPublishableGates } from '../../publishable/publishable-gates.ts'
import { type PublishableKey, captchaOwnerOf } from '../../publishable/publishable-key.ts'
import type { PublishableKeys } from '../../publishable/publishable-keys.ts'
import { KeyWindows, type Counted } from '../../publishable/key-windows.ts'
import { refusedLetter } from '../../insights/count.ts'
import type { LateCounts } from '../../insights/late-counts.ts'
import { invalid, Refusal } from '../../refusals.ts'
import { orderDigest, type SendMessages, type SendOptions, type SendOrder } from './send-messages.ts'
import { labelsOf } from '../labels.ts'
import type { Acceptance, Submission } from '../submission.ts'

export interface PublishableSendOptions extends Pick<SendOptions, 'database' | 'clock' | 'accept'> {
  readonly captchas: Captchas
  readonly keys: PublishableKeys
  readonly sendMessages: SendMessages
  readonly lateCounts: Pick<LateCounts, 'count'>
}

/** Origin of a web page's request. */
export interface WebOrigin {
  /** Value of the `Origin` header. */
  readonly origin: string | undefined
  readonly remoteAddress: string
  readonly captchaToken: string | undefined
}

/** Longer than any provider accepts a token. */
const captchaTokenMs = 3_600_000

export class PublishableSends {
  readonly #options: PublishableSendOptions
  readonly #windows: KeyWindows

  constructor(options: PublishableSendOptions) {
    this.#options = options
    this.#windows = new KeyWindows(options)
  }

  /** Checks the key's windows before the body is read. Throws `rate_limit_exceeded` if earlier bodies were refused and a window is full. */
  async admit(principal: Principal, remoteAddress: string): Promise<void> {
    const key = await this.#options.keys.ofBearer(principal)
    await this.#counting(principal, key, () => this.#windows.admit(principal.organizationId, key, remoteAddress))
  }

  /** Counts a refused body, so that invalid bodies are limited like sends. */
  async countRefused(principal: Principal, remoteAddress: string): Promise<void> {
    await this.#windows.countRefused(principal.organizationId, await this.#options.keys.ofBearer(principal), remoteAddress)
  }

  /** Resolves when the message is on disk. Throws the refusal of the first gate that fails; a refused send consumes nothing. */
  async send(principal: Principal, given: SendOrder, visit: WebOrigin): Promise<Acceptance> {
    const key = await this.#options.keys.ofBearer(principal)
    return this.#counting(principal, key, () => this.#send(principal, key, given, visit))
  }

  /** Counts refusals for the key. */
  async #counting<T>({ organizationId }: Principal, { id, projectId }: PublishableKey, run: () => Promise<T>): Promise<T> {
    try {
      return await run()
    } catch (error) {
      if (error instanceof Refusal) this.#options.lateCounts.count({ organizationId, projectId }, refusedLetter + error.code, id)
      throw error
    }
  }

  async #send(principal: Principal, key: PublishableKey, given: SendOrder, visit: WebOrigin): Promise<Acceptance> {
    const { accept, keys, sendMessages } = this.#options
    const recipients = [...given.to, ...given.cc, ...given.bcc]
    checkPublishableGates(key, { origin: visit.origin, recipients, from: given.from, attachments: given.attachments.length })
    assertOwnChoice(given, key)
    const order = { ...given, from: lockedSender(key), idempotencyKey: ownIdempotencyKey(key, given.idempotencyKey) }
    const earlier = await accept.earlier({
      principal,
      projectId: key.projectId,
      idempotencyKey: order.idempotencyKey,
      orderDigest: await orderDigest(order),
    })
    if (earlier) return earlier // the earlier send passed the captcha check and the rate limits
    const { organizationId } = principal
    const counted: Counted = { remoteAddress: visit.remoteAddress, recipients: recipients.map(({ address }) => address) }
    await this.#windows.check(organizationId, key, counted)
    await this.#options.captchas.verify(captchaOwnerOf(key), { token: visit.captchaToken, remoteAddress: visit.remoteAddress })
    await keys.ofBearer(principal) // the key may have been revoked during the captcha check
    const once = this.#once(principal, key, visit)
    return this.#windows.during(organizationId, key, counted, (windows) =>
      sendMessages.send(principal, order, { door: 'publishable_key', windows, once }),
    )
  }

  /** Marks the captcha token as used in the write that accepts the message, because providers forget a token after its first use. */
  #once({ organizationId }: Principal, { id, captcha }: PublishableKey, { captchaToken = '' }: WebOrigin): Submission['once'] {
    if (captcha === null || captchaToken.length > maxCaptchaToken) return undefined
    const key = [organizationId, 'captcha.used', id, hash('sha256', captchaToken)]
    return { key, expiresAt: this.#options.clock.now() + captchaTokenMs, refusal: captchaFailed() }
  }
}

const lockedSender = ({ lockedFrom }: PublishableKey): Mailbox | undefined => parseMailbox(lockedFrom)

/** Adds the key's id to its idempotency keys, so that visitors can neither occupy a key of the project nor learn its outcome. */
const ownIdempotencyKey = ({ id }: PublishableKey, given: string | undefined): string | undefined =>
  given === undefined ? undefined : `${id}\0${given}`

/**
 * Throws if the page sets fields that the key does not allow. Header fields are never allowed: some providers interpret them, for example
 * as additional recipients (X-SMTPAPI, X-MC-BccAddress).
 */
function assertOwnChoice(order: SendOrder, key: PublishableKey): void {
  const { projectId, destinationId, environment, headers, listUnsubscribe } = order
  const labels = labelsOf(order) ?? {}
  const choices: readonly (readonly [string, boolean, string])[] = [
    ['project_id', projectId !== undefined && projectId !== key.projectId, 'is not the project of this key; leave it out'],
    ['destination_id', destinationId !== undefined, 'cannot be chosen with a publishable key; routing rules decide'],
    ['environment', environment !== undefined, 'cannot be chosen with a publishable key; routing rules decide'],
    ['headers', headers.length > 0, 'cannot be set with a publishable key; leave them out'],
    ['tags', labels.tags !== undefined, 'cannot be set with a publishable key; leave them out'],
    ['metadata', labels.metadata !== undefined, 'cannot be set with a publishable key; leave it out'],
    ['list_unsubscribe', listUnsubscribe !== undefined && listUnsubscribe !== false, 'cannot be set with a publishable key; leave it out'],
  ]
  const problems = choices.flatMap(([path, isMade, message]) => (isMade ? [{ path, message }] : []))
  if (problems.length > 0) throw invalid(problems)
}
