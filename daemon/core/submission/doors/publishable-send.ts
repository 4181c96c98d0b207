/** Sends a message for a web page: the gates of its publishable key, in the order of the specification, and then like any other send. */
import { hash } from 'node:crypto'
import type { Principal } from '../../access/principal/principal.ts'
import { parseMailbox, type Mailbox } from '../../addresses.ts'
import { Captchas, maxCaptchaToken, failed as captchaFailed, type CaptchaOptions } from '../../visitors/captcha.ts'
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

export interface PublishableSendOptions extends Pick<SendOptions, 'database' | 'clock' | 'accept'>, CaptchaOptions {
  readonly keys: PublishableKeys
  readonly sendMessages: SendMessages
  readonly lateCounts: Pick<LateCounts, 'count'>
}

/** Where a send comes from. */
export interface WebOrigin {
  /** The header `Origin`. */
  readonly origin: string | undefined
  readonly remoteAddress: string
  readonly captchaToken: string | undefined
}

/** Longer than any provider takes a token for. */
const captchaTokenMs = 3_600_000

export class PublishableSends {
  readonly #options: PublishableSendOptions
  readonly #windows: KeyWindows
  readonly #captchas: Captchas

  constructor(options: PublishableSendOptions) {
    this.#options = options
    this.#windows = new KeyWindows(options)
    this.#captchas = new Captchas(options)
  }

  /** Before a body is read. Throws `rate_limit_exceeded` where bodies were refused before and a window of the key is full. */
  async admit(principal: Principal, remoteAddress: string): Promise<void> {
    const key = await this.#options.keys.ofBearer(principal)
    await this.#counting(principal, key, () => this.#windows.admit(principal.organizationId, key, remoteAddress))
  }

  /** Counts a body that was refused, so that sending such bodies is bounded like sending. */
  async countRefused(principal: Principal, remoteAddress: string): Promise<void> {
    await this.#windows.countRefused(principal.organizationId, await this.#options.keys.ofBearer(principal), remoteAddress)
  }

  /** Resolves when the message is on disk. Throws the refusal of the first gate that does not let it pass; then nothing was used up. */
  async send(principal: Principal, given: SendOrder, visit: WebOrigin): Promise<Acceptance> {
    const key = await this.#options.keys.ofBearer(principal)
    return this.#counting(principal, key, () => this.#send(principal, key, given, visit))
  }

  /** What is refused is counted for the key. */
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
    if (earlier) return earlier // its captcha was solved, and it is counted
    const { organizationId } = principal
    const counted: Counted = { remoteAddress: visit.remoteAddress, recipients: recipients.map(({ address }) => address) }
    await this.#windows.check(organizationId, key, counted)
    await this.#captchas.verify(captchaOwnerOf(key), { token: visit.captchaToken, remoteAddress: visit.remoteAddress })
    await keys.ofBearer(principal) // it can have ended during the wait for the provider
    const once = this.#once(principal, key, visit)
    return this.#windows.during(organizationId, key, counted, (windows) =>
      sendMessages.send(principal, order, { door: 'publishable_key', windows, once }),
    )
  }

  /** Providers forget a token after its first use; that it was used here is known in the write that uses it. */
  #once({ organizationId }: Principal, { id, captcha }: PublishableKey, { captchaToken = '' }: WebOrigin): Submission['once'] {
    if (captcha === null || captchaToken.length > maxCaptchaToken) return undefined
    const key = [organizationId, 'captcha.used', id, hash('sha256', captchaToken)]
    return { key, expiresAt: this.#options.clock.now() + captchaTokenMs, refusal: captchaFailed() }
  }
}

const lockedSender = ({ lockedFrom }: PublishableKey): Mailbox | undefined => parseMailbox(lockedFrom)

/** Apart from the keys of the project, so that a visitor can neither take one of them nor learn its outcome. */
const ownIdempotencyKey = ({ id }: PublishableKey, given: string | undefined): string | undefined =>
  given === undefined ? undefined : `${id}\0${given}`

/**
 * What the key does not name is not for the page to choose. Header fields least of all: some are orders to the provider that
 * relays the message, such as further recipients (X-SMTPAPI, X-MC-BccAddress).
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
