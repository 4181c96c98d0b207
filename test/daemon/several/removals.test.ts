/** Two daemons with one database: after one deletes an object, the other accepts and sends nothing for it, also at the same moment. */
import type { ExecutionContext } from 'ava'
import { systemClock } from '#core/clock.ts'
import { removalsKey } from '#core/tenancy/removal-key.ts'
import { traces } from '#core/trace/trace.ts'
import type { Write } from '#store/kv.ts'
import { pack, unpack } from '#store/tuple.ts'
import { waitFor, waiting } from '../../support/waits.ts'
import { startDaemon, type StartedDaemon } from '../../support/daemon/start-daemon.ts'
import { makeDestination, makeRoute } from '../../support/daemon/provision.ts'
import { databasesOf } from '../../support/peers/postgresql.ts'
import { testWith } from '../../support/peers/peers.ts'
import { Sink } from '../../support/smtp/sink.ts'

const test = testWith('postgresql')
const postgresql = databasesOf(test)

const mail = { from: 'a@site.test', to: 'b@inbox.test', subject: 's', text: 't' }

async function twoDaemons(t: ExecutionContext): Promise<readonly [StartedDaemon, StartedDaemon]> {
  const env = { POSTERN_STORE: await postgresql().database(), POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32' }
  return [
    await startDaemon(t, { env, replacements: { clock: systemClock } }),
    await startDaemon(t, { env, replacements: { clock: systemClock } }),
  ]
}

const project = async ({ rest }: StartedDaemon): Promise<string> =>
  String((await rest.must('POST', '/v1/projects', { name: 'Shop' }))['id'])

/** Blocks the next matching write until it is released. */
function holdWrite({ kv }: StartedDaemon, isMeant: (write: Write) => boolean): { readonly reached: Promise<void>; letGo(): void } {
  const [reached, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  kv.beforeWrite = (write) => {
    if (!isMeant(write)) return undefined
    reached.resolve()
    return gone.promise
  }
  return { reached: reached.promise, letGo: gone.resolve }
}

const writesTrace = ({ sets }: Write): boolean => sets.some(({ key }) => unpack(key)[1] === traces.name)
const deletesProject = ({ sets }: Write): boolean =>
  sets.some(({ key }) => Buffer.compare(key.subarray(0, pack(removalsKey).length), pack(removalsKey)) === 0)

/** Keys and values of all rows that name the project, except the audit log and rows that a sweep will remove. */
async function rowsNaming({ kv }: StartedDaemon, id: string): Promise<readonly string[]> {
  const rows: string[] = []
  for await (const { key, value } of kv.range({ start: Buffer.of(0), end: Buffer.of(0xff) })) {
    const [first, second] = unpack(key)
    const text = `${Buffer.from(key).toString('latin1')} ${Buffer.from(value).toString('latin1')}`
    if (second !== 'audit' && !(first === '' && second === 'expire') && text.includes(id)) rows.push(text)
  }
  return rows
}

test('deletion: a message being accepted at another daemon is refused without a trace', async (t) => {
  const [a, b] = await twoDaemons(t)
  const id = await project(a)
  await b.rest.must('POST', '/v1/messages', { ...mail, project_id: id }) // loads its project there
  const held = holdWrite(b, writesTrace)
  const sending = b.rest.call('POST', '/v1/messages', { ...mail, project_id: id })
  await held.reached
  t.is((await a.rest.call('DELETE', `/v1/projects/${id}`)).status, 204)
  held.letGo()
  const { status, body } = await sending
  t.is(status, 404)
  t.like(body, { error: { code: 'not_found', next_action: 'check_id' } })
  await waitFor('the project is gone', async () => ((await rowsNaming(a, id)).length === 0 ? true : undefined))
})

test('settings changed during an acceptance: the message is accepted', async (t) => {
  const [a, b] = await twoDaemons(t)
  const id = await project(a)
  await b.rest.must('POST', '/v1/messages', { ...mail, project_id: id })
  const held = holdWrite(b, writesTrace)
  const sending = b.rest.call('POST', '/v1/messages', { ...mail, project_id: id })
  await held.reached
  await a.rest.must('PATCH', `/v1/projects/${id}`, { name: 'Store' })
  held.letGo()
  t.is((await sending).status, 200)
})

test('deletion: refused after a message accepted just before at another daemon', async (t) => {
  const [a, b] = await twoDaemons(t)
  const id = await project(a)
  const held = holdWrite(a, deletesProject)
  const deleting = a.rest.call('DELETE', `/v1/projects/${id}`)
  await held.reached
  const send_at = new Date(Date.now() + 3_600_000).toISOString()
  const { trace_id } = await b.rest.must('POST', '/v1/messages', { ...mail, project_id: id, send_at })
  held.letGo()
  const { status, body } = await deleting
  t.is(status, 409)
  t.like(body, { error: { code: 'conflict', next_action: 'wait_or_discard_queued' } })
  t.is((await a.rest.call('GET', `/v1/traces/${String(trace_id)}`)).status, 200)
  t.like(await a.rest.must('GET', `/v1/projects/${id}`), { project_sends_today: 1 }, 'refused messages are not counted')
})

test('deletion: attempts of other daemons are aborted before the response', async (t) => {
  await using sink = await Sink.listen({ script: (step) => (step === 'data' ? { act: 'hold' } : undefined) })
  const env = { POSTERN_STORE: await postgresql().database(), POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32' }
  const b = await startDaemon(t, { env, replacements: { clock: systemClock } })
  const id = await project(b)
  const inside = b.client(String((await b.rest.must('POST', '/v1/api-keys', { name: 'k', scopes: ['api:admin'], project_id: id }))['key']))
  await makeRoute(inside, await makeDestination(inside, { name: 'host', port: sink.port, mode: 'live' }))
  const { outcome } = await inside.must('POST', '/v1/messages', mail)
  t.is(outcome, 'relayed')
  await sink.reached('data')
  const a = await startDaemon(t, { env, replacements: { clock: systemClock } }) // work in progress stays at its daemon
  const deletion = a.rest.call('DELETE', `/v1/projects/${id}?discard_queued=true`)
  t.is((await waiting('it is answered', deletion)).status, 204)
  sink.script = () => undefined
  sink.release()
  await waitFor('the project is gone', async () => ((await rowsNaming(a, id)).length === 0 ? true : undefined))
  t.is(sink.deliveries.length, 0)
})
