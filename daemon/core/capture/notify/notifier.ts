/**
 * Sends notifications of captures to webhooks, once and without retry (spec "Virtual-inbox notifications"). Concurrency per inbox and
 * organization is limited, so that a slow server does not delay others. The caller has stored the notification before.
 */
import { createHmac } from 'node:crypto'
import type { Core } from '../../core.ts'
import type { SecretBox } from '../../access/secret-box.ts'
import { hasScope, type Principal } from '../../access/principal/principal.ts'
import { jsonHeaders, type Post, type PostLimits, type PostOutcome } from '../../outbound/post.ts'
import { openedUrl } from '../../webhooks/endpoints/target-url.ts'
import { inboxes, notifyContext, type Capture, type Inbox } from '../capture.ts'
import { noteNotify, type LastNotify } from './last-notify.ts'
import { landsIn } from '../inbox-pattern.ts'

export interface NotifierOptions extends Core {
  readonly post: Post
  /** The operator's key for all inboxes. Without it each inbox has a separate key. */
  readonly sharedSecret?: string | undefined
  /** Public address of the service, without a trailing slash. */
  readonly baseUrl: string
  readonly onError: (error: unknown, inboxId: string) => void
}

export interface Notice {
  readonly organizationId: string
  readonly inbox: Inbox
  readonly capture: Capture
  readonly subject: string
}

interface InboxQueue {
  active: number
  readonly waiting: Notice[]
}

const limits: PostLimits = { deadlineMs: 10_000, maxAnswerBytes: 1024 }
const maxActive = 64
const maxActiveOfOrganization = 8
const maxActiveOfInbox = 2
/** Maximum waiting notifications; further notifications are dropped. */
const maxWaitingOfInbox = 100
const maxWaiting = 10_000

export class Notifier {
  readonly #options: NotifierOptions
  /** By inbox, in order of turns. */
  readonly #queues = new Map<string, InboxQueue>()
  readonly #activeOf = new Map<string, number>()
  readonly #inFlight = new Set<Promise<void>>()
  readonly #abort = new AbortController()
  #active = 0
  #waiting = 0

  constructor(options: NotifierOptions) {
    this.#options = options
  }

  /**
   * Returns the verification key of the inbox. Only for administrators, because the key can also sign. Undefined for the operator's key,
   * which tenants must not see.
   */
  secretFor(principal: Principal, inboxId: string): string | undefined {
    if (!hasScope(principal, 'api:admin')) return undefined
    return this.#options.sharedSecret === undefined ? notifySecret(this.#options.secrets, inboxId) : undefined
  }

  /** Queues a notification; returns immediately. */
  send(notice: Notice): void {
    if (this.#abort.signal.aborted) return
    const { id } = notice.inbox
    const queue = this.#queues.get(id) ?? { active: 0, waiting: [] }
    if (queue.waiting.length >= maxWaitingOfInbox || this.#waiting >= maxWaiting) {
      this.#later(this.#note(notice, { at: this.#options.clock.now(), milliseconds: 0, statusCode: null, error: tooMany }), id)
      return
    }
    queue.waiting.push(notice)
    this.#waiting++
    this.#queues.set(id, queue)
    this.#pump()
  }

  /** Drops waiting notifications and aborts running ones, because delivery is at most once. */
  async stop(): Promise<void> {
    this.#abort.abort()
    this.#queues.clear()
    await Promise.all(this.#inFlight)
  }

  #pump(): void {
    for (const [id, queue] of this.#queues) {
      if (this.#active >= maxActive) return
      const [next] = queue.waiting
      if (!next || queue.active >= maxActiveOfInbox) continue
      if ((this.#activeOf.get(next.organizationId) ?? 0) >= maxActiveOfOrganization) continue
      queue.waiting.shift()
      this.#waiting--
      this.#queues.delete(id)
      this.#queues.set(id, queue) // visited again in this loop when its turn comes
      this.#count(next.organizationId, queue, 1)
      this.#later(
        this.#run(next).finally(() => {
          this.#count(next.organizationId, queue, -1)
          if (queue.active === 0 && queue.waiting.length === 0) this.#queues.delete(id)
          this.#pump()
        }),
        id,
      )
    }
  }

  #count(organizationId: string, queue: InboxQueue, by: 1 | -1): void {
    this.#active += by
    queue.active += by
    const active = (this.#activeOf.get(organizationId) ?? 0) + by
    if (active > 0) this.#activeOf.set(organizationId, active)
    else this.#activeOf.delete(organizationId)
  }

  async #run(asked: Notice): Promise<void> {
    const { database, clock, post, secrets, sharedSecret, baseUrl } = this.#options
    const { organizationId } = asked
    // the inbox may have changed while the notification waited
    const inbox = (await database.get(inboxes, { organizationId }, asked.inbox.id))?.record
    if (inbox?.notifyWebhookUrl === undefined || !landsIn(inbox, asked.capture)) return
    const notice = { ...asked, inbox }
    const at = clock.now()
    const body = Buffer.from(JSON.stringify(bodyOf(notice, baseUrl, database.newId('ntf', at), at)))
    const headers = {
      ...jsonHeaders,
      'service-virtual-inbox-signature': notifySignature(sharedSecret ?? notifySecret(secrets, inbox.id), at, body),
    }
    const begun = clock.monotonic()
    const url = openedUrl(secrets, inbox.notifyWebhookUrl, notifyContext(inbox.id))
    const outcome: PostOutcome = url === undefined ? sealedElsewhere : await post({ url, headers, body }, limits, this.#abort.signal)
    await this.#note(notice, { at, milliseconds: Math.round(clock.monotonic() - begun), ...endOf(outcome) })
  }

  #note({ organizationId, inbox, capture }: Notice, seen: Omit<LastNotify, 'captureId'>): Promise<void> {
    return noteNotify(this.#options.database, organizationId, inbox.id, { captureId: capture.id, ...seen })
  }

  #later(work: Promise<void>, inboxId: string): void {
    const done = work.catch((error: unknown) => this.#options.onError(error, inboxId)).finally(() => this.#inFlight.delete(done))
    this.#inFlight.add(done)
  }
}

const tooMany = 'Too many notifications of this inbox were pending; this one was dropped.'

const sealedElsewhere: PostOutcome = {
  problem: 'The address cannot be decrypted with the current master key; set it again.',
  isOurs: true,
}

function endOf(outcome: PostOutcome): { readonly statusCode: number | null; readonly error: string | null } {
  if ('problem' in outcome) return { statusCode: null, error: outcome.problem }
  const { status } = outcome
  return { statusCode: status, error: status >= 200 && status <= 299 ? null : `The receiver returned status ${status}.` }
}

const bodyOf = ({ inbox, capture, subject }: Notice, baseUrl: string, id: string, at: number) => ({
  id,
  type: 'virtual_inbox.message_captured',
  created_at: new Date(at).toISOString(),
  inbox: { id: inbox.id, project_id: inbox.projectId, address_pattern: inbox.addressPattern, name: inbox.name },
  message: {
    id: capture.id,
    trace_id: capture.traceId,
    capture_reason: capture.captureReason,
    destination_id: capture.destinationId,
    intended_from: capture.intendedFrom,
    intended_to: capture.intendedTo,
    addresses_seen: capture.addressesSeen,
    subject,
    captured_at: new Date(capture.capturedAt).toISOString(),
    url: `${baseUrl}/v1/inboxes/${inbox.id}/messages/${capture.id}`,
  },
})

/** Derives the key, so that it is stable without storage. The whole text is the key. */
const notifySecret = (secrets: SecretBox, inboxId: string): string =>
  `whsec_${secrets.mac('inbox.notify.v1', Buffer.from(inboxId)).toString('base64url')}`

/** `t=<seconds>,v1=<hex>`, like Stripe (spec "Virtual-inbox notifications"). `atMs`: send time. */
function notifySignature(secret: string, atMs: number, body: Uint8Array): string {
  const seconds = Math.floor(atMs / 1000)
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex')}`
}
