/** The log of Debian's Postfix as feedback: relayed, deferred, refused and abandoned mail. */
import { readWholeLog } from '../ingest/logs/log-reading.ts'
import { waitFor } from '../support/waits.ts'
import { Sink } from '../support/smtp/sink.ts'
import { SmtpClient } from '../support/smtp/smtp-client.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'
import { testWith } from '../support/peers/peers.ts'
import { Postfix } from './postfix.ts'

const peers = testWith('postfix')

const replies: Readonly<Record<string, string>> = {
  refuse: '550 5.1.1 Nobody of that name lives here',
  busy: '450 4.2.1 The mailbox is busy, try again',
}
const replyTo = (recipient: string): string | undefined => replies[recipient.split('@')[0] ?? '']

peers('Postfix log: outcome of each recipient with return path and Message-ID', async (t) => {
  await using folder = await temporaryFolder('postfix-log')
  await using sink = await Sink.listen({ script: { recipient: replyTo } })
  await using postfix = await Postfix.start({
    folder: folder.path,
    // a message that was first deferred has expired
    settings: { relayhost: `[127.0.0.1]:${String(sink.port)}`, maximal_queue_lifetime: '0', bounce_queue_lifetime: '0' },
  })
  const client = await SmtpClient.connect({ port: postfix.port })
  for (const name of ['ada', 'refuse', 'busy']) {
    const content = Buffer.from(`Message-ID: <${name}@site.test>\r\nSubject: Hello\r\n\r\nHello\r\n`)
    await client.send({ from: `b-${name}@bounces.site.test`, to: [`${name}@shop.test`], content })
  }
  await client.quit()
  const { events, rejected } = await waitFor('Postfix is done with all three', async () => {
    const reading = await readWholeLog('postfix', await postfix.log())
    const told = new Set(reading.events.map(({ event }) => `${event.type} ${String(event.recipient)}`))
    const isDone = ['delivered ada@shop.test', 'bounced refuse@shop.test', 'bounced busy@shop.test'].every((one) => told.has(one))
    return isDone ? reading : undefined
  })
  t.deepEqual(rejected, [])
  const ofMail = events.filter(({ event }) => event.recipient?.endsWith('@shop.test'))
  const text = ofMail.map(({ event: { type, recipient, status, action, clues } }) =>
    [type, recipient, status, action, ...clues.returnPaths, ...clues.messageIds].join(' '),
  )
  t.deepEqual(text.toSorted(), [
    'bounced busy@shop.test 4.4.7 failed b-busy@bounces.site.test <busy@site.test>',
    'bounced refuse@shop.test 5.1.1 failed b-refuse@bounces.site.test <refuse@site.test>',
    'deferred busy@shop.test 4.2.1 delayed b-busy@bounces.site.test <busy@site.test>',
    'delivered ada@shop.test 2.0.0 relayed b-ada@bounces.site.test <ada@site.test>',
  ])
  for (const { event } of ofMail) {
    t.is(event.remoteIp, '127.0.0.1')
    t.true(event.occurredAt !== null || !/^\d{4}-/m.test(await postfix.log()))
  }
  const refusal = ofMail.find(({ event }) => event.status === '5.1.1')?.event
  t.deepEqual([refusal?.smtpCode, refusal?.diagnostic], [550, replies['refuse']])
})
