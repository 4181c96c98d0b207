/** Each event in each format, at real receivers: verified by the services' own libraries where they have one, and read by their types. */
import { createHmac } from 'node:crypto'
import { EventWebhook, EventWebhookHeader } from '@sendgrid/eventwebhook'
import test, { type ExecutionContext } from '#test'
import type { BounceWebhook, DeliveryWebhook, SpamComplaintWebhook, SubscriptionChangeWebhook } from 'postmark/dist/client/models/index.js'
import { Resend, type WebhookEventPayload } from 'resend'
import { webhookFormats, type WebhookFormat } from '#core/webhooks/formats/format-names.ts'
import type { Received } from '../../../support/web/webhook-receiver.ts'
import { startFixture } from '../fixture/rest-fixture.ts'
import { FakeClock } from '../../../support/fake-clock.ts'
import {
  Scene,
  causes,
  endpointOf,
  header,
  jsonOf,
  metadata,
  onlyOf,
  recipient,
  subject,
  tags,
  type Endpoint,
  type Named,
  type Row,
} from './webhook-scene.ts'

const host = 'post.example.ch'
const names = Object.keys(causes) as Named[]

/** Requests of a receiver by event. */
interface Got {
  readonly t: ExecutionContext
  readonly scene: Scene
  readonly traceId: string
  readonly secret: string
  readonly made: Row
  readonly by: Readonly<Record<Named, Received>>
}

function checkResend({ t, traceId, secret, by }: Got): void {
  const verified = (name: Named): WebhookEventPayload =>
    new Resend('re_x').webhooks.verify({
      payload: by[name].body,
      headers: {
        id: header(by[name], 'svix-id'),
        timestamp: header(by[name], 'svix-timestamp'),
        signature: header(by[name], 'svix-signature'),
      },
      webhookSecret: secret,
    })
  const common = { email_id: traceId, to: [recipient], subject, from: 'shop@example.ch', tags: metadata }
  t.like(verified('delivered'), { type: 'email.delivered', data: common })
  t.like(verified('hard'), { type: 'email.bounced', data: { ...common, bounce: { type: 'Permanent', subType: 'NoEmail' } } })
  t.like(verified('soft'), { type: 'email.bounced', data: { ...common, bounce: { type: 'Transient', subType: 'MailboxFull' } } })
  t.like(verified('complained'), { type: 'email.complained', data: common })
  t.like(verified('givenUp'), { type: 'email.failed', data: { ...common, failed: { reason: causes.givenUp.reason } } })
  t.like(verified('suppressed'), { type: 'suppression.added', data: { email: recipient, origin: 'bounce', source_id: traceId } })
  t.throws(() =>
    new Resend('re_x').webhooks.verify({
      payload: by.hard.body.replace('Permanent', 'Transient'),
      headers: {
        ...{ id: header(by.hard, 'svix-id'), timestamp: header(by.hard, 'svix-timestamp') },
        signature: header(by.hard, 'svix-signature'),
      },
      webhookSecret: secret,
    }),
  )
}

function checkSendgrid({ t, traceId, made, by }: Got): void {
  const webhook = new EventWebhook()
  const key = webhook.convertPublicKeyToECDSA(String(made['verification_key']))
  const isVerified = (received: Received, body = received.body): boolean =>
    webhook.verifySignature(
      ...([key, body] as const),
      header(received, EventWebhookHeader.SIGNATURE().toLowerCase()),
      header(received, EventWebhookHeader.TIMESTAMP().toLowerCase()),
    )
  for (const received of Object.values(by)) t.true(isVerified(received))
  t.false(isVerified(by.hard, by.hard.body.replace('"bounce"', '"dropped"')))
  const common = { email: recipient, sg_message_id: traceId, category: tags, order: metadata.order, CustomID: 'c-1' }
  t.like(onlyOf(by.delivered), { ...common, event: 'delivered' }, 'custom arguments hide no field of the event')
  t.like(onlyOf(by.hard), { ...common, event: 'bounce', type: 'bounce', status: '5.1.1', bounce_classification: 'Invalid Address' })
  t.like(onlyOf(by.soft), { ...common, event: 'bounce', type: 'blocked', bounce_classification: 'Mailbox Unavailable' })
  t.like(onlyOf(by.block), { ...common, event: 'bounce', type: 'blocked', bounce_classification: 'Reputation' })
  t.like(onlyOf(by.complained), { ...common, event: 'spamreport' })
  t.like(onlyOf(by.givenUp), { ...common, event: 'bounce', type: 'blocked', reason: causes.givenUp.reason })
}

function checkPostmark({ t, traceId, by }: Got): void {
  const common = { MessageID: traceId, Metadata: metadata, Tag: 'welcome', MessageStream: 'outbound' }
  const delivered = jsonOf(by.delivered) as unknown as DeliveryWebhook
  t.like(delivered, { RecordType: 'Delivery', Recipient: recipient, Details: 'It arrived.', ...common })
  const [hard, soft, block, givenUp] = ([by.hard, by.soft, by.block, by.givenUp] as const).map(
    (received) => jsonOf(received) as unknown as BounceWebhook & { readonly RecordType: string },
  )
  const about = { ...common, RecordType: 'Bounce', Email: recipient, Subject: subject, From: 'shop@example.ch' }
  t.like(hard, { ...about, Type: 'HardBounce', TypeCode: 1, Inactive: true, Details: causes.hard.bounce.diagnostic })
  t.like(soft, { ...about, Type: 'SoftBounce', TypeCode: 4096, Inactive: false })
  t.like(block, { ...about, Type: 'Blocked', TypeCode: 100_006, Inactive: false })
  t.like(givenUp, { ...about, Type: 'SoftBounce', Details: causes.givenUp.reason })
  const complaint = jsonOf(by.complained) as unknown as SpamComplaintWebhook
  t.like(complaint, { ...common, RecordType: 'SpamComplaint', TypeCode: 100_001, Email: recipient })
  const change = jsonOf(by.suppressed) as unknown as SubscriptionChangeWebhook
  t.like(change, { ...common, RecordType: 'SubscriptionChange', Recipient: recipient, SuppressSending: true })
  t.is(change.SuppressionReason, 'HardBounce')
}

function checkMailgun({ scene, t, traceId, secret, by }: Got): void {
  const said = (name: Named): Row => {
    const { signature, 'event-data': data } = jsonOf(by[name]) as unknown as { signature: Record<string, string>; 'event-data': Row }
    const { timestamp = '', token = '' } = signature
    t.is(signature['signature'], createHmac('sha256', secret).update(`${timestamp}${token}`).digest('hex'))
    t.regex(token, /^[\da-f]{50}$/)
    t.is(timestamp, String(Math.floor(scene.fixture.clock.now() / 1000)))
    t.like(data, {
      ...{ recipient, tags, 'user-variables': metadata },
      message: { headers: { 'message-id': `${traceId}@${host}`, subject, to: recipient, from: 'shop@example.ch' } },
    })
    return data
  }
  t.like(said('delivered'), { event: 'delivered', 'delivery-status': { code: 250 } })
  t.like(said('hard'), { event: 'failed', severity: 'permanent', reason: 'bounce', 'delivery-status': { code: 550 } })
  t.like(said('soft'), { event: 'failed', severity: 'temporary', 'delivery-status': { code: 452, 'mx-host': 'mx.example.net' } })
  t.like(said('block'), { event: 'failed', severity: 'temporary' })
  t.like(said('complained'), { event: 'complained' })
  t.like(said('givenUp'), { event: 'failed', severity: 'temporary' })
}

function checkBrevo({ t, scene, traceId, by }: Got): void {
  const events = {
    delivered: 'delivered',
    hard: 'hard_bounce',
    soft: 'soft_bounce',
    block: 'blocked',
    complained: 'spam',
    givenUp: 'error',
  }
  for (const [name, event] of Object.entries(events)) {
    const common = { email: recipient, 'message-id': `<${traceId}@${host}>`, subject, tags, 'X-Mailin-custom': JSON.stringify(metadata) }
    t.like(jsonOf(by[name as Named]), { event, ...common })
  }
  t.is(jsonOf(by.hard)['reason'], causes.hard.bounce.diagnostic)
  t.is(jsonOf(by.hard)['date'], new Date(scene.fixture.clock.now()).toISOString().slice(0, 19).replace('T', ' '))
}

function checkMailersend({ t, traceId, secret, by }: Got): void {
  const types = {
    ...{ delivered: 'delivered', hard: 'hard_bounced', soft: 'soft_bounced', block: 'soft_bounced' },
    ...{ complained: 'spam_complaint', givenUp: 'soft_bounced' },
  }
  for (const [name, type] of Object.entries(types)) {
    const received = by[name as Named]
    t.is(received.headers['signature'], createHmac('sha256', secret).update(received.body).digest('hex'))
    const email = { from: 'shop@example.ch', subject, tags, message: { id: traceId }, recipient: { email: recipient } }
    t.like(jsonOf(received), { type: `activity.${type}`, data: { type, email } })
  }
  t.like(jsonOf(by.hard), { data: { morph: { object: 'recipient_bounce', reason: causes.hard.bounce.diagnostic } } })
}

function checkSparkpost({ t, traceId, by }: Got): void {
  const said = (name: Named): Row => onlyOf<{ msys: { message_event: Row } }>(by[name]).msys.message_event
  const common = { rcpt_to: recipient, transmission_id: traceId, rcpt_meta: metadata, rcpt_tags: tags, subject }
  t.like(said('delivered'), { type: 'delivery', ...common })
  t.like(said('hard'), { type: 'bounce', bounce_class: '10', error_code: '550', reason: causes.hard.bounce.diagnostic, ...common })
  t.like(said('soft'), { type: 'bounce', bounce_class: '22', ...common })
  t.like(said('block'), { type: 'bounce', bounce_class: '51', ...common })
  t.like(said('complained'), { type: 'spam_complaint', fbtype: 'abuse', ...common })
  t.like(said('givenUp'), { type: 'bounce', bounce_class: '24', ...common })
}

function checkMailjet({ t, traceId, by }: Got): void {
  const common = { email: recipient, MessageID: traceId, CustomID: 'c-1', Payload: '{"a":1}', customcampaign: 'welcome' }
  t.like(onlyOf(by.delivered), { event: 'sent', ...common })
  t.like(onlyOf(by.hard), { event: 'bounce', hard_bounce: true, blocked: true, error_related_to: 'recipient', ...common })
  t.like(onlyOf(by.soft), { event: 'bounce', hard_bounce: false, error_related_to: 'recipient', error: 'quota exceeded', ...common })
  t.like(onlyOf(by.complained), { event: 'spam', ...common })
  t.like(onlyOf(by.givenUp), { event: 'bounce', hard_bounce: false, blocked: false, comment: causes.givenUp.reason, ...common })
}

function checkSes({ t, traceId, by }: Got): void {
  const said = (name: Named): Row => JSON.parse(String(jsonOf(by[name])['Message'])) as Row
  const mail = { messageId: traceId, destination: [recipient], commonHeaders: { subject, from: ['shop@example.ch'] } }
  t.like(said('delivered'), { notificationType: 'Delivery', eventType: 'Delivery', mail, delivery: { recipients: [recipient] } })
  t.like(said('hard'), { notificationType: 'Bounce', mail, bounce: { bounceType: 'Permanent', bounceSubType: 'NoEmail' } })
  t.like(said('soft'), { bounce: { bounceType: 'Transient', bounceSubType: 'MailboxFull' } })
  t.like(said('block'), { bounce: { bounceType: 'Transient', bounceSubType: 'General' } })
  t.like(said('complained'), { notificationType: 'Complaint', complaint: { complaintFeedbackType: 'abuse' } })
  t.like(said('givenUp'), { notificationType: 'Bounce', bounce: { bounceType: 'Transient' } })
  t.deepEqual((said('hard')['mail'] as Row)['tags'], {
    ...Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, [value]])),
    tags,
  })
}

const checks: Readonly<Record<Exclude<WebhookFormat, 'native'>, (got: Got) => void>> = {
  ...{ resend: checkResend, sendgrid: checkSendgrid, postmark: checkPostmark, mailgun: checkMailgun, brevo: checkBrevo },
  ...{ mailersend: checkMailersend, sparkpost: checkSparkpost, mailjet: checkMailjet, ses: checkSes },
}

const hasAll = new Set<WebhookFormat>(['native', 'resend', 'postmark'])

test('each format sends every event it supports, signed and written as the service does', async (t) => {
  const fixture = await startFixture(t, { clock: FakeClock.atMachineTime() })
  const scene = new Scene(fixture)
  await fixture.webhookDispatcher.start()
  await scene.send()
  const endpoints = new Map<WebhookFormat, Endpoint>()
  for (const format of webhookFormats) endpoints.set(format, await endpointOf(t, fixture, format))
  for (const name of names) await scene.happens(name)
  for (const [format, { made, receiver }] of endpoints) {
    const secret = String(made['hmac_secret'])
    const events = receiver.received.filter(({ headers }) => headers['x-amz-sns-message-type'] !== 'SubscriptionConfirmation')
    t.is(events.length, hasAll.has(format) ? 7 : 6, format)
    for (const { headers, body } of events) {
      t.is(headers['x-service-signature'], `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`)
      t.regex(String(headers['x-service-delivery']), /^[\da-f-]{36}$/)
    }
    const by = Object.fromEntries(events.map((event, i) => [names[i], event])) as Record<Named, Received>
    if (format !== 'native') checks[format]({ t, scene, traceId: scene.traceId, secret, made, by })
  }
})
