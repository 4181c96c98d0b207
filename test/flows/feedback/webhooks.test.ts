/** Event webhooks with the whole daemon: a message that no server accepts, a receiver of its event, and a kill in between. */
import { createHmac } from 'node:crypto'
import test from '#test'
import { Daemon, runCommand } from '../../support/daemon/daemon.ts'
import { waitFor, waiting } from '../../support/waits.ts'
import { makeDestination, makeRoute } from '../../support/daemon/provision.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { WebhookReceiver } from '../../support/web/webhook-receiver.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { assertVerified } from '../../support/problems.ts'

const env = { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32;webhooks=127.0.0.1/32' }

test('webhooks: an event of an abandoned message survives kill -9 with its delivery id', async (t) => {
  await using folder = await temporaryFolder('webhooks')
  await using sink = await Sink.listen({ script: { recipient: () => '550 5.1.1 no such user' } })
  await using receiver = await new WebhookReceiver({ answer: () => undefined }).listen()
  const options = { folder: folder.path, env }
  const first = await Daemon.start(options)
  await makeRoute(first.rest, await makeDestination(first.rest, { name: 'Sink', port: sink.port, mode: 'live' }))
  const made = await first.rest.must('POST', '/v1/webhooks', { name: 'Shop', target_url: receiver.url, event_types: ['failed'] })
  const { trace_id } = await first.rest.must('POST', '/v1/messages', { from: 'shop@example.com', to: ['ada@example.net'], text: 'x' })
  await waiting('the event arrives', receiver.hasReceived(1))
  await first.kill()
  receiver.answer = (response) => response.writeHead(200).end()
  await using second = await Daemon.start(options, first.adminKey)
  const [before, after] = await waiting('the event arrives again', receiver.hasReceived(2))
  t.like(JSON.parse(after?.body ?? ''), {
    type: 'failed',
    data: { trace_id, recipient: 'ada@example.net', status: 'failed', reply: { code: 550 } },
  })
  t.is(before?.body, after?.body)
  t.is(before?.headers['x-service-delivery'], after?.headers['x-service-delivery'])
  const signature = createHmac('sha256', String(made['hmac_secret']))
    .update(after?.body ?? '')
    .digest('hex')
  t.is(after?.headers['x-service-signature'], `sha256=${signature}`)
  const row = await waitFor('the attempt is on record', async () => {
    const [one] = (await second.rest.must('GET', '/v1/webhooks/attempts?status=succeeded'))['data'] as Record<string, unknown>[]
    return one
  })
  t.like(row, { trace_id, attempt_count: 1, last_status_code: 200 })
  await second.stop()
  assertVerified(t, await runCommand(options, 'verify'))
})

test('webhooks: loopback is refused unless the operator allows it', async (t) => {
  await using folder = await temporaryFolder('webhooks')
  await using receiver = await new WebhookReceiver().listen()
  await using daemon = await Daemon.start({ folder: folder.path })
  const answer = await daemon.rest.call('POST', '/v1/webhooks', { name: 'x', target_url: receiver.url })
  t.is(answer.status, 400)
  t.regex(answer.bytes.toString(), /POSTERN_OUTBOUND_ALLOW/)
  t.is(receiver.connections, 0)
})
