/** A test: a made-up event is sent to an endpoint at once, and the receiver's response is returned. Nothing of it is kept. */
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
  /** JSON, as it was sent. */
  readonly body: string
}

export class TestDeliveries {
  readonly #options: TestOptions
  readonly #inFlight = new Set<string>()

  constructor(options: TestOptions) {
    this.#options = options
  }

  /**
   * Sent once, whatever events the endpoint wants. Throws `not_found`, `validation_failed` for what its format cannot say, and
   * `rate_limit_exceeded` while the endpoint is being tested.
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

  /** Sends a made-up event to a target, which is an endpoint or has an address and a secret too. Throws `rate_limit_exceeded` likewise. */
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

/** An event of nothing that happened. */
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
