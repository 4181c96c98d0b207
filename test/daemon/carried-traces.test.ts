/**
 * A store of an earlier release with traces under their ids: Postern lists, reads, delivers, replays and removes them together with new
 * ones.
 */
import { join } from 'node:path'
import test from '#test'
import { captureOf } from '#core/capture/capture.ts'
import { earlierCaptures } from '#core/capture/earlier-captures.ts'
import { pendingReadKey } from '#core/capture/reading/pending-read.ts'
import { integrityChecks } from '#core/integrity.ts'
import { migrations } from '#core/migrations.ts'
import { discardTrace } from '#core/retention/remove-trace.ts'
import { storedTracesCounter } from '#core/tenancy/counters.ts'
import { earlierTraces } from '#core/trace/earlier-traces.ts'
import { traces } from '#core/trace/trace.ts'
import { Change } from '#store/change.ts'
import { Database } from '#store/database.ts'
import { LevelKv } from '#store/level/level-kv.ts'
import { globalKey } from '#store/record-kind.ts'
import { pack, unpack, within } from '#store/tuple.ts'
import { verify } from '#store/verify/verify.ts'
import { makeDestination, makeRoute } from '../support/daemon/provision.ts'
import type { RestClient } from '../support/daemon/rest.ts'
import { startDaemon, type StartedDaemon } from '../support/daemon/start-daemon.ts'
import { assertSound } from '../support/problems.ts'
import { Sink } from '../support/smtp/sink.ts'

const env = { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32' }

/** Sends a message one millisecond after the previous one, which fixes their order. */
async function send({ rest, pass }: StartedDaemon, to: string, more: object = {}): Promise<string> {
  await pass(1)
  return String((await rest.must('POST', '/v1/messages', { from: 'shop@site.test', to, subject: to, text: 'Hello', ...more }))['trace_id'])
}
const status = async (rest: RestClient, id: string): Promise<unknown> => (await rest.must('GET', `/v1/traces/${id}`))['status']
/** Returns the status after all due work. */
const statusThen = ({ rest, settled }: StartedDaemon, id: string): Promise<unknown> => settled().then(() => status(rest, id))
const listed = async (rest: RestClient, query = ''): Promise<string[]> =>
  (await Array.fromAsync(rest.rows(`/v1/traces${query}`, 2))).map((row) => String(row['trace_id']))

/**
 * Rewrites traces in the form of the previous release, except `kept` traces of each organization. This imitates a crash during the upgrade.
 */
async function takeBack(dataDir: string, kept: number): Promise<readonly string[]> {
  await using kv = await LevelKv.open(join(dataDir, 'store'), { onFailure: () => {} })
  const database = new Database(kv)
  const back: string[] = []
  for (const organizationId of await organizationsOf(kv)) {
    for (const stored of (await database.all(traces, { organizationId })).slice(kept)) {
      const { capture, ...record } = stored.record
      const change = new Change().remove(traces, organizationId, stored).insert(earlierTraces, organizationId, record)
      const earlier = captureOf(stored.record)
      if (capture && earlier) change.insert(earlierCaptures, organizationId, earlier)
      if (capture) change.set(pendingReadKey(organizationId, capture.id)) // as if its body was not read yet
      await database.commit(
        change.delete(globalKey('carried', 'traces')).delete(globalKey('carried', 'captures')).delete(globalKey('format')),
      )
      back.push(stored.record.id)
    }
  }
  const problems = (await verify(database, integrityChecks(database))).problems
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return back
}

async function organizationsOf(kv: LevelKv): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  for await (const { key } of kv.range({ start: pack(['org_']), end: pack(['org`']) })) found.add(String(unpack(key)[0]))
  return found
}

/** Returns the counts that the log reports for each step of the upgrade. */
function carriedOver({ log }: StartedDaemon): object {
  const [traceStep, captureStep] = migrations.map(({ name }) => log.find(({ msg }) => msg === `upgraded the store: ${name}`))
  return { ...(traceStep && { traces: traceStep['done'] }), ...(captureStep && { captures: captureStep['done'] }) }
}

for (const kept of [0, 2]) {
  test(`upgrade: reads and writes work with ${kept === 0 ? 'no upgraded trace' : 'some upgraded traces'}`, async (t) => {
    const sink = await Sink.listen()
    const refusing = await Sink.listen({ script: { recipient: () => '550 5.7.1 your account is closed' } })
    t.teardown(() => Promise.all([sink, refusing].map((one) => one[Symbol.asyncDispose]())))
    const daemon = await startDaemon(t, { env })
    const { rest } = daemon
    const second = String((await rest.must('POST', '/v1/projects', { name: 'Second' }))['id'])
    const destination = await makeDestination(rest, { name: 'sink', port: sink.port, mode: 'live' })
    const closed = await makeDestination(rest, { name: 'closed', port: refusing.port, mode: 'live' })
    const down = await makeDestination(rest, { name: 'down', port: 9, mode: 'live' })
    for (const [id, domain] of [
      [destination, 'site.test'],
      [closed, 'closed.test'],
      [down, 'down.test'],
    ] as const)
      await makeRoute(rest, id, domain)
    const anna = await send(daemon, 'anna@peer.test')
    const ben = await send(daemon, 'ben@peer.test', { project_id: second, from: 'shop@nowhere.test' })
    const carl = await send(daemon, 'carl@peer.test', { send_at: new Date(daemon.clock.now() + 3_600_000).toISOString() })
    const dora = await send(daemon, 'dora@peer.test', { from: 'shop@closed.test' })
    const eva = await send(daemon, 'eva@peer.test', { from: 'shop@down.test' })
    await daemon.settled()
    t.deepEqual([await status(rest, anna), await status(rest, dora)], ['sent', 'failed'])
    await daemon.stop()
    t.is((await takeBack(daemon.dataDir, kept)).length, 5 - kept)

    const next = await daemon.again()
    const now = next.rest
    t.deepEqual(carriedOver(next), { traces: 5 - kept, captures: 1 })
    await assertSound(t, next)
    t.deepEqual(await next.database.all(earlierTraces, next), [])
    const newest = await send(next, 'anna@peer.test')
    t.is(await statusThen(next, newest), 'sent')
    t.deepEqual(await listed(now), [newest, eva, dora, carl, ben, anna])
    t.deepEqual(await listed(now, `?project_id=${second}`), [ben])
    t.deepEqual(await listed(now, '?to=ANNA@peer.test'), [newest, anna])
    t.is((await now.must('DELETE', `/v1/messages/scheduled/${carl}`))['status'], 'canceled')

    t.is(await status(now, eva), 'queued')
    await now.must('PATCH', `/v1/destinations/${down}`, { credentials: { host: '127.0.0.1', port: sink.port, security: 'none' } })
    await now.must('POST', `/v1/traces/${eva}/retry`)
    t.is(await statusThen(next, eva), 'sent')
    await now.must('POST', '/v1/replays', { filter: { destination_id: closed }, target_destination_id: destination })
    t.is(await statusThen(next, dora), 'sent')
    t.is(sink.deliveries.find(({ to }) => to.includes('dora@peer.test'))?.to.length, 1)

    const inboxes = await Array.fromAsync(now.rows(`/v1/inboxes?project=${second}`))
    const inbox = `/v1/inboxes/${String(inboxes[0]?.['id'])}/messages`
    const fay = await send(next, 'fay@peer.test', { project_id: second, from: 'shop@nowhere.test' })
    const inInbox = async (query = '') => (await Array.fromAsync(now.rows(`${inbox}${query}`, 1))).map((row) => String(row['trace_id']))
    t.deepEqual(await inInbox(), [fay, ben])
    t.deepEqual(await inInbox('?address=ben@peer.test'), [ben])
    t.deepEqual(await inInbox('?address=@peer.test'), [fay, ben])
    t.deepEqual(await listed(now, `?project_id=${second}`), [fay, ben])
    t.deepEqual(await listed(now, '?to=ben@peer.test'), [ben])
    await next.settled()
    for await (const { key } of next.kv.range(within(globalKey('capture.pending')))) t.fail(JSON.stringify(unpack(key)))
    t.true(await discardTrace(next.database, next.organizationId, fay))
    t.deepEqual(await inInbox(), [ben])

    t.true(await discardTrace(next.database, next.organizationId, anna, next.clock.now()))
    t.is((await now.call('GET', `/v1/traces/${anna}`)).status, 404)
    t.deepEqual(await listed(now), [newest, eva, dora, carl, ben])
    t.is(await next.kv.counter(pack(storedTracesCounter(next.organizationId))), 5)
    await assertSound(t, next)
    await next.stop()
    t.deepEqual(await listed((await next.again()).rest), [newest, eva, dora, carl, ben])
  })
}
