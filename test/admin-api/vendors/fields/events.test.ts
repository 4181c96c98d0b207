/** Events contain the data of the sending client and the returned id, also in batches, and values that only events show. */
import test, { type ExecutionContext } from '#test'
import SparkPost from 'sparkpost'
import { makeDestination, makeRoute } from '../../../support/daemon/provision.ts'
import { adminKey, startDaemon, type StartedDaemon } from '../../../support/daemon/start-daemon.ts'
import { Sink } from '../../../support/smtp/sink.ts'
import { receiverOf, type WebhookReceiver } from '../../../support/web/webhook-receiver.ts'
import { one, paths, type Body } from '../marked-requests.ts'

const from = 'shop@example.ch'
const gone = ['gone-a@example.net', 'gone-b@example.net', 'gone-c@example.net'] as const
const [first, second, third] = gone
type Event = Readonly<Record<string, unknown>>

interface Started {
  readonly daemon: StartedDaemon
  readonly sink: Sink
  readonly receiver: WebhookReceiver
}

/** Starts a daemon that gets refusals for `gone-…`; the receiver gets events in the given format. */
async function started(t: ExecutionContext, format: string): Promise<Started> {
  const sink = await Sink.listen({ script: { recipient: (to) => (to.startsWith('gone') ? '550 5.1.1 no such user' : undefined) } })
  t.teardown(() => sink[Symbol.asyncDispose]())
  const receiver = await receiverOf(t)
  const daemon = await startDaemon(t, { env: { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32;webhooks=127.0.0.1/32' } })
  const { rest } = daemon
  await makeRoute(rest, await makeDestination(rest, { name: 'Sink', port: sink.port, mode: 'live' }))
  await rest.must('POST', '/v1/webhooks', { name: 'Events', target_url: receiver.url, event_types: ['failed'], format })
  return { daemon, sink, receiver }
}

/** Returns the events of a format, without their list or envelope. */
function eventsIn({ received }: WebhookReceiver): Event[] {
  return received.map(({ body }) => {
    const [parsed] = [JSON.parse(body) as unknown].flat() as Record<string, never>[]
    return parsed?.['event-data'] ?? parsed?.['msys']?.['message_event'] ?? parsed?.['data'] ?? parsed ?? {}
  })
}

interface Batch {
  readonly format: string
  readonly path: string
  readonly body: Body
  /** Returns the id in the response and in each event. */
  readonly answered: (body: never, headers: Readonly<Record<string, unknown>>) => unknown
  readonly named: (event: never) => unknown
}

const variables = JSON.stringify(Object.fromEntries(gone.map((email) => [email, { n: email }])))

const batches: readonly Batch[] = [
  {
    ...{ format: 'sendgrid', path: paths.sendgrid },
    body: {
      from: one(from),
      subject: 's',
      content: [{ type: 'text/plain', value: 't' }],
      personalizations: gone.map((to) => ({ to: [one(to)] })),
    },
    answered: (_, headers) => headers['x-message-id'],
    named: ({ sg_message_id: id }: { sg_message_id: string }) => id,
  },
  {
    ...{ format: 'mailgun', path: paths.mailgun },
    body: { from, to: gone.join(), subject: 's', text: 't', 'recipient-variables': variables },
    answered: ({ id }: { id: string }) => id.slice(1, -1),
    named: ({ message }: { message: { headers: Event } }) => message.headers['message-id'],
  },
  {
    ...{ format: 'mailersend', path: paths.mailersend },
    body: { from: one(from), to: gone.map(one), subject: 's', text: 't', personalization: gone.map((email) => ({ email, data: {} })) },
    answered: (_, headers) => headers['x-message-id'],
    named: ({ email }: { email: { message: Event } }) => email.message['id'],
  },
  {
    ...{ format: 'sparkpost', path: paths.sparkpost },
    body: { recipients: ['no address', ...gone].map((address) => ({ address })), content: { from, subject: 's', text: 't' } },
    answered: ({ results }: { results: Event }) => results['id'],
    named: ({ transmission_id: id }: { transmission_id: string }) => id,
  },
]

for (const { format, path, body, answered, named } of batches)
  test(`${format}: events of all recipients of a batch contain the id of the response`, async (t) => {
    const { daemon, receiver } = await started(t, format)
    const form = path === paths.mailgun && Buffer.from(new URLSearchParams(body as Record<string, string>).toString())
    const type = form ? { 'content-type': 'application/x-www-form-urlencoded' } : {}
    const { status, headers, body: answer } = await daemon.rest.call('POST', path, form || body, type)
    t.true(status < 300, JSON.stringify(answer))
    await receiver.hasReceived(gone.length)
    await daemon.settled()
    const events = eventsIn(receiver)
    const id = answered(answer as never, headers)
    t.deepEqual(
      events.map((event) => named(event as never)),
      gone.map(() => id),
    )
    t.is(new Set(events.map((event) => JSON.stringify(event['recipient'] ?? event['email'] ?? event['rcpt_to']))).size, gone.length)
  })

test('Brevo: events return the custom value unchanged, and the mail omits it', async (t) => {
  const { daemon, sink, receiver } = await started(t, 'brevo')
  const given: readonly (readonly [value: string, metadata: object])[] = [
    ['{"order_id":"1234"}', { order_id: '1234' }],
    ['{"order": 1234}', { order: '1234', 'X-Mailin-custom': '{"order": 1234}' }],
    ['some text', { 'X-Mailin-custom': 'some text' }],
  ]
  for (const [i, [value, metadata]] of given.entries()) {
    const mail = {
      sender: one(from),
      to: [one(gone[i] ?? ''), one('ada@example.net')],
      subject: `Custom ${String(i)}`,
      textContent: 't',
      tags: ['order'],
    }
    const { messageId } = await daemon.rest.must('POST', paths.brevo, { ...mail, headers: { 'x-mailin-Custom': value, 'X-Order': '1' } })
    const [event] = eventsIn({ received: (await receiver.hasReceived(i + 1)).slice(i) } as WebhookReceiver)
    t.like(event, { 'X-Mailin-custom': value, tags: ['order'], 'message-id': messageId })
    t.like(await daemon.rest.must('GET', `/v1/traces/${String(messageId).replace(/^<|@.*$/g, '')}`), { metadata })
    const { text } = await sink.delivered((one) => one.text.includes(`Subject: Custom ${String(i)}`))
    t.regex(text, /^X-Order: 1\r$/m)
    t.notRegex(text, /mailin/i)
  }
})

test('Postmark: events contain the stream and only metadata of the request', async (t) => {
  const { daemon, receiver } = await started(t, 'postmark')
  const mail = { From: from, Subject: 's', TextBody: 't', Metadata: { order: '1234' } }
  await daemon.rest.must('POST', '/email', { ...mail, To: first, MessageStream: 'broadcast' })
  await receiver.hasReceived(1)
  await daemon.rest.must('POST', '/email', { ...mail, To: second, MessageStream: 'outbound' })
  await receiver.hasReceived(2)
  t.like(eventsIn(receiver), [
    { MessageStream: 'broadcast', Metadata: { order: '1234' } },
    { MessageStream: 'outbound', Metadata: { order: '1234' } },
  ])
})

test('Mailgun: events return the variables of each recipient from fields and header', async (t) => {
  const { daemon, receiver } = await started(t, 'mailgun')
  const form = new URLSearchParams({
    ...{
      from,
      to: third,
      subject: 's',
      text: 't',
      'v:order': '%recipient.v:order%',
      'h:x-mailgun-variables': '{"list":"%recipient.list%"}',
    },
    'recipient-variables': JSON.stringify({ [third]: { 'v:order': '1234', list: 'news' } }),
  })
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  const { id } = await daemon.rest.must('POST', paths.mailgun, Buffer.from(form.toString()), type)
  await receiver.hasReceived(1)
  t.like(eventsIn(receiver), [{ 'user-variables': { order: '1234', list: 'news' } }])
  const { items } = await daemon.rest.must('GET', `/v3/example.ch/events?message-id=${String(id).slice(1, -1)}`)
  t.like(items, [{ message: { headers: { 'message-id': String(id).slice(1, -1) } } }])
})

test('SparkPost: events of a transmission are found by the returned id', async (t) => {
  const { daemon } = await started(t, 'sparkpost')
  const client = new SparkPost(adminKey, { origin: `http://${daemon.addresses.http}` })
  const recipients = gone.map((email) => ({ address: { email } }))
  const { results } = await client.transmissions.send({ recipients, content: { from, subject: 's', text: 't' } })
  await daemon.settled()
  for await (const { trace_id: id } of daemon.rest.rows('/v1/traces')) {
    const { results: found } = await daemon.rest.must('GET', `/api/v1/events/message?transmissions=${String(id)}`)
    t.like((found as Event[])[0], { transmission_id: results.id, message_id: id })
  }
})
