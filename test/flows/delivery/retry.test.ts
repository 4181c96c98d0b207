/** A retry for the owner of a site: a provider refuses one recipient, then accepts, and the message arrives there once. */
import test from '#test'
import { Daemon } from '../../support/daemon/daemon.ts'
import { waitFor, waiting } from '../../support/waits.ts'
import { makeDestination, makeRoute } from '../../support/daemon/provision.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { column } from '../../support/column.ts'

interface Entry {
  readonly at: string
  readonly event: string
}
interface TraceRead {
  readonly status: string
  readonly timeline: readonly Entry[]
  readonly recipients: readonly { readonly address: string; readonly status: string; readonly bounce: string | null }[]
}

test('retry: sends once, to the refused recipient only; the trace is in order', async (t) => {
  await using folder = await temporaryFolder('retry')
  await using provider = await Sink.listen({
    script: { recipient: (address) => (address.startsWith('ben') ? '550 5.1.1 no such user' : undefined) },
  })
  await using daemon = await Daemon.start({ folder: folder.path })
  const { rest } = daemon
  await makeRoute(rest, await makeDestination(rest, { name: 'provider', port: provider.port, mode: 'live' }))

  const message = { from: 'a@shop.test', to: ['anna@inbox.test', 'ben@inbox.test'], subject: 'Order 7', text: 'Hi' }
  const { trace_id } = await rest.must('POST', '/v1/messages', message)
  const path = `/v1/traces/${String(trace_id)}`
  const read = async (): Promise<TraceRead> => (await rest.must('GET', path)) as unknown as TraceRead
  const statuses = ({ recipients }: TraceRead) => recipients.map(({ address, status, bounce }) => [address, status, bounce])
  await waitFor('the message has failed', async () => (await read()).status === 'failed')
  t.deepEqual(statuses(await read()), [
    ['anna@inbox.test', 'sent', null],
    ['ben@inbox.test', 'failed', 'hard'],
  ])
  t.deepEqual(column(provider.deliveries, 'to'), [['anna@inbox.test']])

  // a recipient suppressed in between is not tried, and the trace keeps the reason of the failure
  const { id } = await rest.must('POST', '/v1/suppressions', { email: 'ben@inbox.test' })
  const held = await rest.call('POST', `${path}/retry`)
  t.is(held.status, 409)
  t.like(held.body, { error: { code: 'conflict', next_action: 'remove_suppression' } })
  t.deepEqual(statuses(await read())[1], ['ben@inbox.test', 'failed', 'hard'])
  await rest.must('DELETE', `/v1/suppressions/${String(id)}`)

  provider.script = {}
  const [first, second] = await Promise.all([rest.call('POST', `${path}/retry`), rest.call('POST', `${path}/retry`)])
  // the other recipient is queued or, with a fast provider, sent
  t.true([first, second].some(({ status }) => status === 200))
  t.true([first, second].every(({ status }) => status === 200 || status === 409))
  const delivery = await waiting(
    'the provider has accepted the retried message',
    provider.delivered(({ to }) => to.includes('ben@inbox.test')),
  )
  t.deepEqual(delivery.to, ['ben@inbox.test'])
  t.regex(delivery.content.toString(), /^Subject: Order 7\r$/m)
  await waitFor('the message is sent', async () => (await read()).status === 'sent')

  const after = await read()
  t.deepEqual(statuses(after), [
    ['anna@inbox.test', 'sent', null],
    ['ben@inbox.test', 'sent', null],
  ])
  const told = ['accepted', 'routed', 'queued', 'attempt', 'bounced', 'retried', 'attempt', 'sent']
  t.deepEqual(column(after.timeline, 'event'), told)
  const times = after.timeline.map(({ at }) => at)
  t.deepEqual(times, times.toSorted())
  const again = await rest.call('POST', `${path}/retry`)
  t.like(again.body, { error: { code: 'conflict', next_action: 'read_trace' } })
  t.is((await daemon.stop()).code, 0)
  t.is(provider.deliveries.length, 2, 'ledger: each recipient gets it once')
})
