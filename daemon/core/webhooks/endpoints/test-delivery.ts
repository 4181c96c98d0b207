/** Sends a test event to an endpoint immediately and returns the receiver's response. Stores nothing. */
import { randomUUID } from 'node:crypto'
import type { Database } from '#store/database.ts'
import type { Principal } from '../../access/principal/principal.ts'
import type { Clock } from '../../clock.ts'
import { invalid, Refusal } from '../../refusals.ts'
import type { TraceRecipient } from '../../trace/trace.ts'
import { secretContext, type WebhookEndpoint, type WebhookEventType } from '../endpoint.ts'
import { eventBody, type WebhookEvent } from '../events/event-body.ts'
import type { MessageFacts } from '../formats/format.ts'
import { says } from '../formats/formats.ts'
import type { SentDelivery } from '../sending/request.ts'
import type { Sender, Sent } from '../sending/sender.ts'
import type { Webhooks } from './webhooks.ts'

export interface TestOptions {
  readonly database: Database
  readonly webhooks: Pick<Webhooks, 'get'>
  readonly sender: Pick<Sender, 'send'>
  readonly clock: Clock
}

export interface TestResult extends Sent {
  readonly deliveryId: string
  /** The sent body, as JSON. */
  readonly body: string
}

export class TestDeliveries {
  readonly #options: TestOptions
  readonly #inFlight = new Set<string>()

  constructor(options: TestOptions) {
    this.#options = options
  }

  /**
   * Sends one test event, regardless of the endpoint's event types. Throws `not_found`, `validation_failed` for an event that the format
   * does not support, and `rate_limit_exceeded` during another test of the endpoint.
   */
  async run(principal: Principal, id: string, type: WebhookEventType, signal: AbortSignal): Promise<TestResult> {
    const { database, webhooks, clock } = this.#options
    const endpoint = await webhooks.get(principal, id)
    const now = clock.now()
    if (!says(endpoint.format, type))
      throw invalid([{ path: 'event_type', message: `must be an event that the format ${endpoint.format ?? 'native'} has` }])
    const body = eventBody(database.newId('evt', now), sample(database, principal, endpoint, type, now), true)
    return this.send(
      id,
      { ...endpoint, endpoint, secretContext: secretContext(id) },
      { eventType: type, body, message: sampleMessage(now) },
      signal,
    )
  }

  /**
   * Sends a test event to an endpoint or another target with an address and a secret. Throws `rate_limit_exceeded` during another test of
   * the target.
   */
  async send(
    id: string,
    target: Parameters<Sender['send']>[0],
    sample: Omit<SentDelivery, 'deliveryId'>,
    signal: AbortSignal,
  ): Promise<TestResult> {
    if (this.#inFlight.has(id))
      throw new Refusal('rate_limit_exceeded', 'A test of this endpoint is in progress; wait until it ends.', { retryAfterSeconds: 10 })
    this.#inFlight.add(id)
    try {
      const deliveryId = randomUUID()
      const sent = await this.#options.sender.send(target, { deliveryId, ...sample }, signal)
      return { ...sent, deliveryId, body: sent.body ?? sample.body }
    } finally {
      this.#inFlight.delete(id)
    }
  }
}

const address = 'recipient@example.com'
const sampleMessage = (acceptedAt: number): MessageFacts => ({
  ...{ from: 'sender@example.com', mailFrom: 'sender@example.com', subject: 'A test event', acceptedAt },
})
const refusal = { code: 550, enhanced: '5.1.1', text: 'The mailbox does not exist.' }

const samples: Readonly<
  Record<WebhookEventType, Pick<TraceRecipient, 'status' | 'reply'> & Pick<WebhookEvent, 'reason' | 'bounce' | 'complaint'>>
> = {
  delivered: { status: 'delivered', reason: 'The receiving server reported the delivery.' },
  bounced: {
    status: 'bounced',
    reason: 'The mailbox does not exist.',
    bounce: {
      class: 'hard',
      category: 'mailbox_unknown',
      status: '5.1.1',
      smtpCode: 550,
      diagnostic: '550 5.1.1 The mailbox does not exist.',
      remoteMta: 'mx.example.com',
    },
  },
  complained: { status: 'complained', reason: 'The recipient reported the message as spam.', complaint: { feedbackType: 'abuse' } },
  failed: { status: 'failed', reply: refusal, reason: 'The last reply was 550 The mailbox does not exist.' },
  auto_suppressed: { status: 'bounced', reason: 'Suppressed after a hard bounce.' },
}

/** Returns an event with example data. */
function sample(
  database: Database,
  { organizationId }: Principal,
  { projectId }: WebhookEndpoint,
  type: WebhookEventType,
  at: number,
): WebhookEvent {
  const { status, reply, ...sample } = samples[type]
  const recipients = [{ address, status, reply }]
  const trace = { id: randomUUID(), projectId, messageId: 'test@example.com', destinationId: null, recipients }
  const suppression = type === 'auto_suppressed' ? { id: database.newId('sup', at), reason: sample.reason, expiresAt: null } : undefined
  return { organizationId, type, trace, recipient: address, at, ...sample, suppression }
}
