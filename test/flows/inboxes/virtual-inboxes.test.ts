/** Virtual inboxes: captured mail of a sandbox and incoming mail, which never mix. */
import test from '#test'
import Stripe from 'stripe'
import { Daemon, newAdminKey, portOf } from '../../support/daemon/daemon.ts'
import { waitFor, waiting } from '../../support/waits.ts'
import { catchAllInbox, makeDestination, makeLogin } from '../../support/daemon/provision.ts'
import { RestClient } from '../../support/daemon/rest.ts'
import { SmtpClient } from '../../support/smtp/smtp-client.ts'
import { WebhookReceiver } from '../../support/web/webhook-receiver.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { column } from '../../support/column.ts'

const domain = 'in.site.test'
const shared = 'whsec_the-key-of-the-operator-for-every-inbox'

test('sandbox captures: notified, awaited and read, separate from incoming mail', async (t) => {
  await using folder = await temporaryFolder('inboxes')
  await using receiver = await new WebhookReceiver().listen()
  const env = {
    POSTERN_INBOUND_DOMAIN: domain,
    POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32;webhooks=127.0.0.1/32',
    POSTERN_INBOX_NOTIFY_SECRET: shared,
  }
  await using daemon = await Daemon.start({ folder: folder.path, env }, newAdminKey())
  const { rest } = daemon
  const sandbox = await makeDestination(rest, { name: 'Box', port: 1, mode: 'sandbox' })
  const { username, password } = await makeLogin(rest, sandbox)
  await rest.must('POST', '/v1/inbound-routes', { local_part_pattern: 'shop', webhook_url: `${receiver.url}/route` })
  const inbox = await rest.must('POST', '/v1/inboxes', { address_pattern: `@${domain}`, notify_webhook_url: `${receiver.url}/inbox` })
  t.is(inbox['signing_secret'], null, 'the key of the operator is no business of a tenant')
  const all = await catchAllInbox(rest)

  const outside = await SmtpClient.connect({ port: portOf(daemon.addresses.mx[0]) })
  const came = 'From: ada@peer.test\r\nSubject: From outside\r\n\r\nx\r\n'
  t.true((await outside.send({ from: 'ada@peer.test', to: [`shop@${domain}`], content: Buffer.from(came) })).accepted)
  await outside.quit()
  await waiting('the route is notified', receiver.hasReceived(1))

  const reader = await rest.must('POST', '/v1/api-keys', { name: 'reader', scopes: ['api:read'] })
  using reading = new RestClient(daemon.addresses.http, String(reader['key']))
  const since = new Date(Date.now() - 60_000).toISOString()
  const pending = reading.must('POST', `/v1/inboxes/${String(inbox['id'])}/wait?since=${since}&timeout=60`)
  const site = await SmtpClient.signIn({ port: portOf(daemon.addresses.submission[0]), security: 'starttls' }, { username, password })
  const sent = `From: cms@example.com\r\nReply-To: Help <help@example.org>\r\nSubject: To a sandbox\r\n\r\nsee list@other.test\r\n`
  t.true((await site.send({ from: 'cms@example.com', to: [`shop@${domain}`], content: Buffer.from(sent) })).accepted)
  await site.quit()
  const message = await pending
  t.like(message, {
    capture_reason: 'captured.sandbox_destination',
    destination_id: sandbox,
    intended_from: 'cms@example.com',
    intended_to: [`shop@${domain}`],
    addresses_seen: ['cms@example.com', 'help@example.org', 'list@other.test', `shop@${domain}`],
    subject: 'To a sandbox',
  })
  const [route, told] = await waiting('the inbox is notified', receiver.hasReceived(2))
  t.deepEqual([route?.path, told?.path], ['/hook/route', '/hook/inbox'])
  const signature = String(told?.headers['service-virtual-inbox-signature'])
  const event: unknown = new Stripe('sk_test_nothing').webhooks.constructEvent(told?.body ?? '', signature, shared)
  t.like(event, { type: 'virtual_inbox.message_captured', message: { id: message['id'], subject: 'To a sandbox' } })
  await waitFor(
    'the notification is stored',
    async () => (await rest.must('GET', `/v1/inboxes/${String(inbox['id'])}`))['last_notify'] ?? undefined,
  )
  for (const id of [all, String(inbox['id'])]) {
    const { data } = await rest.must('GET', `/v1/inboxes/${id}/messages`)
    t.deepEqual(column(data as { subject: string }[], 'subject'), ['To a sandbox'])
  }
  t.is(receiver.received.length, 2, 'the route heard of one mail, and the inbox of the other')

  for (const [method, path, body] of [
    ['POST', '/v1/inboxes', { address_pattern: '@a.test' }],
    ['PATCH', `/v1/inboxes/${all}`, { name: 'x' }],
    ['DELETE', `/v1/inboxes/${all}`, undefined],
    ['DELETE', `/v1/inboxes/${all}/messages`, undefined],
  ] as const)
    t.is((await reading.call(method, path, body)).status, 403, `${method} ${path}`)
})
