/** Webhooks in the formats of other services: a message, its events, and real receivers. */
import type { ExecutionContext } from 'ava'
import { webhookEndpoints, type WebhookEventType } from '#core/webhooks/endpoint.ts'
import { announce } from '#core/webhooks/events/announce.ts'
import type { WebhookEvent } from '#core/webhooks/events/event-body.ts'
import type { WebhookFormat } from '#core/webhooks/formats/format-names.ts'
import { traces, type TraceRecipient } from '#core/trace/trace.ts'
import { Change } from '#store/change.ts'
import { newTraceId } from '#store/ids.ts'
import { goodCertificate } from '../../../protocols/relay/certificates.ts'
import { receiverOf, type Received, type ReceiverOptions, type WebhookReceiver } from '../../../support/web/webhook-receiver.ts'
import type { Fixture } from '../fixture/rest-fixture.ts'

export type Row = Readonly<Record<string, unknown>>
type Cause = Pick<WebhookEvent, 'type' | 'reason' | 'bounce' | 'complaint'> & { readonly status: TraceRecipient['status'] }

export const secureReceiverOf = (t: ExecutionContext, options: ReceiverOptions = {}): Promise<WebhookReceiver> =>
  receiverOf(t, { certificate: goodCertificate, ...options })

export const recipient = "o'ha{{ra}}+%x%@example.net"
export const subject = 'Ihre „Bestellung“ </script> \u{1f4e6} %recipient%'
export const metadata = {
  order: '1"\\2',
  event: 'mine',
  email: 'other@example.org',
  CustomID: 'c-1',
  EventPayload: '{"a":1}',
  signature: 'x',
}
export const tags = ['welcome', 'a,b "c"']

const bounceOf = (kind: 'hard' | 'soft' | 'block', category: string, code: number): NonNullable<WebhookEvent['bounce']> => ({
  ...{ class: kind, category, status: `${String(code).slice(0, 1)}.1.1`, smtpCode: code },
  ...{ diagnostic: `${String(code)} no "${category}"\u0000`, remoteMta: 'mx.example.net' },
})

export const causes = {
  delivered: { type: 'delivered', status: 'delivered', reason: 'It arrived.' },
  hard: { type: 'bounced', status: 'bounced', reason: 'No such mailbox.', bounce: bounceOf('hard', 'recipient_unknown', 550) },
  soft: { type: 'bounced', status: 'bounced', reason: 'It is full.', bounce: bounceOf('soft', 'mailbox_full', 452) },
  block: { type: 'bounced', status: 'bounced', reason: 'It is refused.', bounce: bounceOf('block', 'reputation', 554) },
  complained: { type: 'complained', status: 'complained', reason: 'It is spam.', complaint: { feedbackType: 'abuse' } },
  givenUp: { type: 'failed', status: 'failed', reason: 'No server accepted the message.' },
  suppressed: { type: 'auto_suppressed', status: 'bounced', reason: 'Suppressed after a hard bounce.' },
} as const satisfies Record<string, Cause>
export type Named = keyof typeof causes

/** A message whose events are announced as the core announces them. */
export class Scene {
  readonly fixture: Fixture
  traceId = ''

  constructor(fixture: Fixture) {
    this.fixture = fixture
  }

  async send(): Promise<void> {
    const sent = await this.fixture.rest.must('POST', '/v1/messages', {
      ...{ from: 'Shop <shop@example.ch>', to: recipient, subject, text: 'Hello', tags, metadata },
    })
    this.traceId = String(sent['trace_id'])
  }

  async happens(name: Named): Promise<void> {
    const { database, organizationId, clock, webhookDispatcher } = this.fixture
    const { record: trace } = (await database.lookup(traces, 'id', [this.traceId]))!
    const all = (await database.all(webhookEndpoints, { organizationId })).map(({ record }) => record)
    const { status, ...cause }: Cause = causes[name]
    const told = { ...trace, recipients: trace.recipients.map((one) => ({ ...one, status })) }
    const change = new Change()
    announce(
      database,
      change,
      Map.groupBy(all, ({ projectId }) => projectId),
      {
        ...{ organizationId, trace: told, recipient: trace.recipients[0]!.address, at: clock.now(), ...cause },
      },
    )
    await database.commit(change)
    await webhookDispatcher.idle()
  }
}

export const jsonOf = ({ body }: Received): Row => JSON.parse(body) as Row
export const onlyOf = <T = Row>({ body }: Received): T => {
  const [one, ...others] = JSON.parse(body) as T[]
  if (one === undefined || others.length > 0) throw new Error('not a list of one')
  return one
}
export const header = ({ headers }: Received, name: string): string => String(headers[name])

export interface Endpoint {
  readonly made: Row
  readonly receiver: WebhookReceiver
}

export async function endpointOf(t: ExecutionContext, { rest }: Fixture, format: WebhookFormat, more: object = {}): Promise<Endpoint> {
  const receiver = await secureReceiverOf(t)
  const made = await rest.must('POST', '/v1/webhooks', { name: format, target_url: receiver.url, format, ...more })
  return { made, receiver }
}

/** Announces the given number of events to every subscribed endpoint of the project. */
export async function announceIn(
  { database, organizationId, clock }: Fixture,
  project: string,
  count = 1,
  type: WebhookEventType = 'failed',
): Promise<void> {
  const all = (await database.all(webhookEndpoints, { organizationId })).map(({ record }) => record)
  const change = new Change()
  for (let n = 0; n < count; n++) {
    const recipient = `r${n}@example.net`
    const trace = {
      id: newTraceId(),
      projectId: project,
      messageId: 'm',
      destinationId: null,
      recipients: [{ address: recipient, status: 'failed' as const }],
    }
    const endpoints = Map.groupBy(all, ({ projectId }) => projectId)
    announce(database, change, endpoints, { organizationId, type, trace, recipient, reason: null, at: clock.now() })
  }
  await database.commit(change)
}
