/** The queue from the command line, with a daemon and a provider that defers. */
import test from '#test'
import { Daemon, runCommand } from '../../support/daemon/daemon.ts'
import { makeDestination, makeRoute } from '../../support/daemon/provision.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { waitFor } from '../../support/waits.ts'

const operatorKey = `svcop_${'o'.repeat(43)}`

test('postern queue: counts, holds, drops, expedites, releases; nothing is sent twice', async (t) => {
  await using folder = await temporaryFolder('queue')
  const provider = { defers: true }
  await using sink = await Sink.listen({ script: { recipient: () => (provider.defers ? '451 4.3.2 come back later' : undefined) } })
  const options = { folder: folder.path, env: { POSTERN_OPERATOR_KEY: operatorKey } }
  await using daemon = await Daemon.start(options)
  const { rest } = daemon
  const destination = await makeDestination(rest, { name: 'slow', port: sink.port, mode: 'live' })
  await makeRoute(rest, destination)
  const ids: string[] = []
  for (const domain of ['one.test', 'one.test', 'two.test']) {
    const message = { from: 'a@shop.test', to: `c${ids.length}@${domain}`, subject: 'order', text: 'Hi' }
    ids.push(String((await rest.must('POST', '/v1/messages', message))['trace_id']))
  }
  const queued = async () => Array.fromAsync(rest.rows('/v1/queue'))
  await waitFor('the provider has deferred all', async () => (await queued()).filter(({ state }) => state === 'retry').length === 3)
  const times = ids.map(async (id) => Date.parse(String((await rest.must('GET', `/v1/traces/${id}`))['created_at'])))
  const [first = 0, second = 0] = await Promise.all(times)
  const waitsSince = async (): Promise<unknown> => (await rest.must('GET', '/v1/queue/counts'))['waiting_since']
  const since = Date.parse(String(await waitsSince()))
  t.true(since >= first && since <= second, 'the first message waits longest')
  const run = async (...args: string[]): Promise<string> => {
    const { code, output } = await runCommand(options, 'queue', ...args)
    t.is(code, 0, output)
    return output
  }

  t.regex(
    await run('hold', '--destination', destination),
    /DESTINATION +PROJECT +MESSAGES\n.*  3\n3 messages match\. Nothing was changed\. Add --yes to hold them\.\n$/,
  )
  t.is((await queued()).filter(({ state }) => state === 'held').length, 0)
  t.is(await run('hold', '--destination', destination, '--reason', 'incident', '--yes'), 'hold: 3 messages.\n')
  t.regex(
    await run('list', '--to-domain', 'two.test'),
    /^TRACE +STATE .*\n\S{36} +held +- +1 +slow +a@shop\.test +c2@two\.test +451 .*come back later\n$/,
  )
  t.is(await waitsSince(), null)
  t.like(await rest.must('GET', `/v1/traces/${ids[0] ?? ''}`), { status: 'queued', held: true, next_attempt_at: null })
  t.is((await rest.call('POST', `/v1/traces/${ids[0] ?? ''}/retry`)).status, 409)

  t.is(await run('drop', '--trace', ids[1] ?? '', '--yes'), 'drop: 1 message.\n')
  t.like(await rest.must('GET', `/v1/traces/${ids[1] ?? ''}`), { status: 'canceled', held: false })
  const { id: organization } = (await Array.fromAsync(rest.rows('/v1/organizations')))[0] ?? {}
  const asOperator = ['--organization', String(organization), '--url', `http://${daemon.addresses.http}`]
  t.is(await run('release', '--to-domain', 'two.test', '--yes', ...asOperator), 'release: 1 message.\n')
  await sink.reached('rcpt', 4)
  await waitFor(
    'the second attempt is stored',
    async () => (await queued()).find(({ trace_id }) => trace_id === ids[2])?.['attempts'] === 2,
  )
  provider.defers = false
  t.is(await run('expedite', '--all', '--yes'), 'expedite: 1 message.\n')
  await sink.delivered(({ to }) => to.includes('c2@two.test'))
  t.is(await run('release', '--all', '--yes'), 'release: 1 message.\n')
  await sink.delivered(({ to }) => to.includes('c0@one.test'))
  await waitFor('the queue is empty', async () => (await queued()).length === 0)
  t.is(await run('list'), 'No queued messages.\n')
  t.deepEqual(sink.deliveries.flatMap(({ to }) => to).toSorted(), ['c0@one.test', 'c2@two.test'], 'ledger: each arrives once')
  const acts = (await Array.fromAsync(rest.rows('/v1/audit'))).filter(({ act }) => String(act).startsWith('queue.'))
  t.deepEqual(
    acts
      .map(({ act, actor }) => `${String(act)} ${(actor as { kind: string }).kind}`)
      .toReversed()
      .slice(0, 3),
    ['queue.held api_key', 'queue.dropped api_key', 'queue.released operator'],
  )

  t.regex((await runCommand(options, 'queue', 'drop', '--to-domain', 'a@b')).output, /^--to-domain: must be a domain/)
  t.regex((await runCommand(options, 'queue', 'drop', '--destination', 'dst_none')).output, /^--destination: no destination has this id/)
  t.regex((await runCommand(options, 'queue', 'drop', '--yes')).output, /^queue drop needs a filter option, or --all\./)
  t.is((await rest.call('POST', '/v1/queue/acts', { act: 'drop', filter: {} })).status, 400)
  t.is((await daemon.stop()).code, 0)
})
