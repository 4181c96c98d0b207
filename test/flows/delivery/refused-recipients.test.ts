/** A provider that refuses recipients at RCPT, seen from outside: lists, filters, suppression and the next send. */
import test from '#test'
import { Daemon } from '../../support/daemon/daemon.ts'
import { waitFor } from '../../support/waits.ts'
import { makeDestination, makeRoute } from '../../support/daemon/provision.ts'
import { RestClient } from '../../support/daemon/rest.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'

const operatorKey = `svcop_${'o'.repeat(43)}`
const env = { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32', POSTERN_OPERATOR_KEY: operatorKey }

test('permanent refusal: recorded as a bounce, suppressed, and listed per recipient', async (t) => {
  await using folder = await temporaryFolder('refused')
  await using sink = await Sink.listen({
    script: { recipient: (address) => (address.includes('gone') ? '550 5.1.1 no such user' : undefined) },
  })
  await using daemon = await Daemon.start({ folder: folder.path, env })
  const { rest } = daemon
  const [organization] = (await rest.must('GET', '/v1/organizations'))['data'] as { id: string }[]
  using operator = new RestClient(daemon.addresses.http, operatorKey)
  const set = await operator.call('PUT', `/operator/v1/organizations/${organization?.id ?? ''}/flags`, { bounce_auto_suppress: true })
  t.is(set.status, 200)
  await makeRoute(rest, await makeDestination(rest, { name: 'Sink', port: sink.port, mode: 'live' }))
  const to = ['ada@example.net', 'gone@example.net']
  const { trace_id } = await rest.must('POST', '/v1/messages', { from: 'shop@example.com', to, text: 'x' })
  const list = async (query: string) => (await rest.must('GET', `/v1/traces?${query}`))['data'] as Record<string, unknown>[]
  const row = await waitFor('the bounce is recorded', async () => (await list('bounce=hard'))[0])
  t.like(row, { trace_id, status: 'failed', bounce: 'hard', summary: '1 sent, 1 failed (hard bounce)' })
  t.deepEqual(row['recipient_counts'], { sent: 1, failed: 1 })
  t.deepEqual([await list('bounce=soft'), await list('bounce=block'), await list('bounce=hard&to=ada@example.net')], [[], [], []])
  const [entry] = (await rest.must('GET', '/v1/suppressions?source=bounce'))['data'] as Record<string, unknown>[]
  t.like(entry, { email: 'gone@example.net' })
  const next = await rest.must('POST', '/v1/messages', { from: 'shop@example.com', to: 'gone@example.net', text: 'x' })
  t.is(next['status'], 'suppressed')

  // one pipelined dialog, so both get the same reply
  const both = await rest.must('POST', '/v1/messages', {
    from: 'shop@example.com',
    to: ['gone.a@example.net', 'gone.b@example.net'],
    text: 'x',
  })
  await waitFor('both recipients are refused', async () =>
    (await rest.must('GET', `/v1/traces/${String(both['trace_id'])}`))['status'] === 'failed' ? true : undefined,
  )
  const listed = (await rest.must('GET', '/v1/suppressions?source=bounce'))['data'] as { email: string }[]
  t.deepEqual(listed.map(({ email }) => email).toSorted(), ['gone.a@example.net', 'gone.b@example.net', 'gone@example.net'])

  // one reply to the content, which names no recipient
  sink.script = { message: () => '550 5.1.1 no such user' }
  const shared = await rest.must('POST', '/v1/messages', {
    from: 'shop@example.com',
    to: ['carl@example.net', 'dora@example.net'],
    text: 'x',
  })
  await waitFor('the content is refused', async () =>
    (await rest.must('GET', `/v1/traces/${String(shared['trace_id'])}`))['bounce'] === 'hard' ? true : undefined,
  )
  t.is(((await rest.must('GET', '/v1/suppressions?source=bounce'))['data'] as unknown[]).length, 3)
  const [last] = await list('to=carl@example.net')
  t.like(last, { summary: '2 failed (hard bounce)', recipient_counts: { failed: 2 } })
})
