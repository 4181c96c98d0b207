/** Suppressed recipients with the whole daemon: REST and SMTP in, a smart host out. */
import test from '#test'
import { Daemon, portOf } from '../../support/daemon/daemon.ts'
import { waitFor, waiting } from '../../support/waits.ts'
import { makeDestination, makeLogin, makeRoute } from '../../support/daemon/provision.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { SmtpClient } from '../../support/smtp/smtp-client.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { column } from '../../support/column.ts'

test('suppressions: apply to REST, SMTP and retries', async (t) => {
  await using folder = await temporaryFolder('suppressions')
  await using sink = await Sink.listen({
    script: { recipient: (address) => (address.startsWith('later') ? '450 4.2.1 later' : undefined) },
  })
  await using daemon = await Daemon.start({ folder: folder.path, env: { POSTERN_DELIVERY_RETRY_SECONDS: '3' } })
  const { rest } = daemon
  const destinationId = await makeDestination(rest, { name: 'Sink', port: sink.port, mode: 'live' })
  await makeRoute(rest, destinationId)
  const suppress = (email: string) => rest.must('POST', '/v1/suppressions', { email })
  await suppress('No@example.org')
  const send = (to: readonly string[]) => rest.must('POST', '/v1/messages', { from: 'shop@example.com', to, subject: 'x', text: 'x' })

  t.is((await send(['no@example.org']))['status'], 'suppressed')
  const { trace_id, status } = await send(['no@example.org', 'yes@example.org', 'later@example.org'])
  t.is(status, undefined)
  await waiting(
    'the first attempt',
    sink.delivered(({ to }) => to.includes('yes@example.org')),
  )
  await suppress('later@example.org')
  sink.script = {}
  const trace = await waitFor('the message is done', () => settled(String(trace_id)))
  t.is(trace['status'], 'suppressed')
  t.deepEqual(column(trace['recipients'] as { status: string }[], 'status'), ['suppressed', 'sent', 'suppressed'])

  const login = await makeLogin(rest, destinationId)
  const client = await SmtpClient.signIn({ port: portOf(daemon.addresses.submission[0]) }, login)
  t.teardown(() => client.destroy())
  const answer = await client.send({ from: 'shop@example.com', to: ['no@example.org'], content: Buffer.from('Subject: x\r\n\r\nx\r\n') })
  t.is(answer.reply.code, 250)
  t.regex(JSON.stringify(answer.reply), /Ok: suppressed as [0-9a-f-]{36} /)
  t.deepEqual(column(sink.deliveries, 'to'), [['yes@example.org']])

  async function settled(id: string) {
    const found = await rest.must('GET', `/v1/traces/${id}`)
    return found['status'] !== 'queued' && found
  }
})

test('unsubscribe link without a public address: only in captures', async (t) => {
  await using folder = await temporaryFolder('unsubscribe-links')
  await using sink = await Sink.listen()
  const mail = { from: 'shop@example.com', to: 'ada@example.org', subject: 'x', text: 'x', list_unsubscribe: true }
  for (const [baseUrl, status] of [
    [undefined, 400],
    ['http://mail.example.com', 400],
    ['https://mail.example.com', 200],
  ] as const) {
    await using daemon = await Daemon.start({
      folder: folder.path,
      dataDir: `${folder.path}/${status}-${baseUrl?.length}`,
      ...(baseUrl !== undefined && { env: { POSTERN_BASE_URL: baseUrl } }),
    })
    const { rest } = daemon
    t.is((await rest.must('POST', '/v1/messages', mail))['outcome'], 'captured.no_route')
    await makeRoute(rest, await makeDestination(rest, { name: 'Sink', port: sink.port, mode: 'live' }))
    const answer = await rest.call('POST', '/v1/messages', mail)
    t.is(answer.status, status)
    if (status === 200)
      await waiting(
        'the mail',
        sink.delivered(() => true),
      )
    else t.regex(JSON.stringify(answer.body), /list_unsubscribe: requires a public https address .* POSTERN_BASE_URL/)
  }
  t.is(sink.deliveries.length, 1)
  t.regex(sink.deliveries[0]?.content.toString('latin1') ?? '', /<https:\/\/mail\.example\.com\/unsubscribe\//)
})
