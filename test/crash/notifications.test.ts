/** Notifications of virtual inboxes with repeated kills of the daemon: each is sent at most once, and those not started are sent later. */
import test from '#test'
import { Daemon, runCommand } from '../support/daemon/daemon.ts'
import { waitFor, waiting } from '../support/waits.ts'
import { Seeded, seedOf } from '../support/seeded.ts'
import { WebhookReceiver } from '../support/web/webhook-receiver.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'
import { assertVerified } from '../support/problems.ts'

const lives = 6
const sendsOfLife = 30

test('inbox notifications with kills: each capture is notified at most once', async (t) => {
  const seed = seedOf(1)
  t.log(`seed ${String(seed)}`)
  const random = new Seeded(seed)
  await using folder = await temporaryFolder('notifications')
  await using receiver = await new WebhookReceiver().listen()
  const options = { folder: folder.path, env: { POSTERN_OUTBOUND_ALLOW: 'webhooks=127.0.0.1/32' } }
  const acknowledged = new Set<string>()
  let daemon = await Daemon.start(options)
  t.teardown(() => daemon.kill())
  const { id } = await daemon.rest.must('POST', '/v1/inboxes', { address_pattern: '@example.net', notify_webhook_url: receiver.url })
  const send = async (): Promise<string> => {
    const { trace_id } = await daemon.rest.must('POST', '/v1/messages', { from: 'shop@example.com', to: 'ada@example.net', text: 'x' })
    acknowledged.add(String(trace_id))
    return String(trace_id)
  }
  for (let life = 0; life < lives; life++) {
    // every other run is killed while received requests have no response
    const isSilent = life % 2 === 0
    receiver.answer = (response) => (isSilent ? undefined : response.writeHead(204).end())
    const [told, taken] = [receiver.received.length, acknowledged.size]
    const sends = Array.from({ length: sendsOfLife }, () => send().catch(() => undefined))
    const enough = random.between(1, sendsOfLife - 1)
    if (isSilent) await waiting('requests are under way', receiver.hasReceived(told + random.between(1, 2)))
    else await waitFor('some sends are acknowledged', async () => acknowledged.size >= taken + enough)
    await daemon.kill()
    await Promise.all(sends)
    daemon = await Daemon.start(options, daemon.adminKey)
  }
  receiver.answer = (response) => response.writeHead(204).end()
  const last = await send() // no message follows it; an earlier one may still be in progress
  const toldOf = () => receiver.received.map(({ body }) => (JSON.parse(body) as { message: { id: string; trace_id: string } }).message)
  await waitFor('the last capture is notified', async () => toldOf().some((message) => message.trace_id === last))
  const messages = toldOf()
  t.is(new Set(messages.map((message) => message.id)).size, messages.length, 'ledger: a capture was notified twice')
  const captured: string[] = []
  for await (const row of daemon.rest.rows(`/v1/inboxes/${String(id)}/messages`)) captured.push(String(row['id']))
  t.true(captured.length >= acknowledged.size, 'ledger: an acknowledged message is lost')
  t.deepEqual(
    messages.filter((message) => !captured.includes(message.id)),
    [],
    'ledger: a notification without a capture',
  )
  // a kill loses at most the notifications that were loaded and not yet sent
  t.true(messages.length > lives, `${String(messages.length)} of ${String(captured.length)} were notified`)
  t.log(`${String(messages.length)} of ${String(captured.length)} were notified`)
  await daemon.stop()
  assertVerified(t, await runCommand(options, 'verify'))
})
