/** A replay for an operator: a provider refuses, another one accepts, and everything arrives once. */
import test from '#test'
import { Daemon } from '../../support/daemon/daemon.ts'
import { makeDestination, makeRoute } from '../../support/daemon/provision.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { waitFor } from '../../support/waits.ts'

test('replay: refused mail is sent once through another provider', async (t) => {
  await using folder = await temporaryFolder('replay')
  await using refusing = await Sink.listen({ script: { recipient: () => '550 5.7.1 your account is closed' } })
  await using taking = await Sink.listen()
  await using daemon = await Daemon.start({ folder: folder.path })
  const { rest } = daemon
  const first = await makeDestination(rest, { name: 'closed', port: refusing.port, mode: 'live' })
  const second = await makeDestination(rest, { name: 'open', port: taking.port, mode: 'live' })
  await makeRoute(rest, first)
  const ids: string[] = []
  for (let i = 0; i < 5; i++) {
    const sent = await rest.must('POST', '/v1/messages', { from: 'a@shop.test', to: `c${i}@inbox.test`, subject: `order ${i}`, text: 'Hi' })
    ids.push(String(sent['trace_id']))
  }
  const statusOf = async (id: string): Promise<string> => String((await rest.must('GET', `/v1/traces/${id}`))['status'])
  const areSettled = async (): Promise<boolean> => !(await Promise.all(ids.map(statusOf))).includes('queued')
  await waitFor('all have failed', areSettled)
  t.deepEqual(await Promise.all(ids.map(statusOf)), Array(5).fill('failed'))

  const filter = { destination_id: first }
  t.is((await rest.must('POST', '/v1/replays', { filter, dry_run: true }))['matched'], 5)
  const job = await rest.must('POST', '/v1/replays', { filter, target_destination_id: second })
  for (let i = 0; i < 5; i++) await taking.delivered(({ to }) => to.includes(`c${i}@inbox.test`))
  const read = (): Promise<Record<string, unknown>> => rest.must('GET', `/v1/replays/${String(job['job_id'])}`)
  await waitFor('the replay ends', async () => (await read())['status'] !== 'running')
  t.like(await read(), { status: 'finished', counters: { examined: 5, replayed: 5, skipped: 0, refused: 0 } })
  await waitFor('all are sent', areSettled)
  t.deepEqual(await Promise.all(ids.map(statusOf)), Array(5).fill('sent'))
  t.is(taking.deliveries.length, 5, 'ledger: each arrives once')
  t.is((await daemon.stop()).code, 0)
})
