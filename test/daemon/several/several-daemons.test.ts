/** Three daemons with one database: each applies changes made at the others and shows mail accepted by the others. */
import { once } from 'node:events'
import { partOf } from '#core/delivery/queue/queue-parts.ts'
import { waitFor } from '../../support/waits.ts'
import type { Daemon } from '../../support/daemon/daemon.ts'
import { databasesOf } from '../../support/peers/postgresql.ts'
import { testWith } from '../../support/peers/peers.ts'
import { catchAllInbox, makeDestination, makeRoute } from '../../support/daemon/provision.ts'
import { RestClient } from '../../support/daemon/rest.ts'
import { zipOfFiles } from '../../support/web/zip-file.ts'
import { asking, siteSettings } from '../../admin-api/sites/site-client.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { severalDaemons } from './daemons.ts'

const test = testWith('postgresql')
const postgresql = databasesOf(test)

const inText = (one: string, other: string): number => one.localeCompare(other)

test('settings: an acknowledged change applies at all daemons', async (t) => {
  await using sink = await Sink.listen()
  const several = await severalDaemons(t, await postgresql().database())
  const [a, b, c] = await Promise.all([several.start(), several.start(), several.start()])
  const mail = { from: 'a@site.test', to: 'b@inbox.test', subject: 's', text: 't' }
  for (let i = 0; i < 5; i++) {
    const made = await a.rest.must('POST', '/v1/api-keys', { name: `key ${i}`, scopes: ['api:send'] })
    using sender = new RestClient(b.addresses.http, String(made['key']))
    t.is((await sender.call('POST', '/v1/messages', mail)).status, 200)
    t.is((await c.rest.call('DELETE', `/v1/api-keys/${String(made['id'])}`)).status, 200)
    t.is((await sender.call('POST', '/v1/messages', mail)).status, 401, 'revoked at another daemon')
    const destination = await makeDestination(b.rest, { name: `host ${i}`, port: sink.port, mode: 'live' })
    await makeRoute(b.rest, destination, `site${i}.test`)
    const live = { ...mail, from: `a@site${i}.test`, to: `x${i}@inbox.test` }
    t.is((await c.rest.must('POST', '/v1/messages', live))['outcome'], 'relayed', 'routed at another daemon')
    await c.rest.must('POST', '/v1/suppressions', { email: live.to })
    const { status } = await a.rest.must('POST', '/v1/messages', live)
    t.is(status, 'suppressed', 'at another daemon')
  }
})

test('website: deployed at one daemon, served by all, and follows credit within 10 s', async (t) => {
  const several = await severalDaemons(t, await postgresql().database())
  const operatorKey = `svcop_${'o'.repeat(43)}`
  const env = { ...siteSettings, POSTERN_OPERATOR_KEY: operatorKey }
  const [a, b] = await Promise.all([several.start(env), several.start(env)])
  using operator = new RestClient(a.addresses.http, operatorKey)
  const { id } = await a.rest.must('POST', '/v1/sites', { slug: 'gipfel' })
  const deploy = (daemon: Daemon, text: string) =>
    daemon.rest.call('POST', `/v1/sites/${String(id)}/deploys?activate=true`, zipOfFiles({ 'index.html': text }), {
      'content-type': 'application/zip',
    })
  const asks = [a, b].map(({ addresses }) => asking(t, String(addresses.sites[0])))
  const seen = () => Promise.all(asks.map(async (ask) => (await ask('gipfel.sites.test', '/')).text.slice(0, 15)))
  for (const [at, text] of [a, b, a].map((daemon, n) => [daemon, `version ${n}`] as const)) {
    t.is((await deploy(at, text)).status, 201)
    t.deepEqual(await seen(), [text, text])
  }
  const [organization] = (await operator.must('GET', '/operator/v1/organizations'))['data'] as { id: string }[]
  const own = `/operator/v1/organizations/${String(organization?.id)}`
  await operator.must('PUT', `${own}/plan`, { plan: 'anonymous' })
  t.deepEqual(await seen(), ['<!doctype html>', '<!doctype html>'], 'the plan has no credits')
  await operator.must('POST', `${own}/credits`, { credits: '10' })
  await waitFor('both daemons serve version 2', async () => (await seen()).every((text) => text === 'version 2'))
  await operator.must('PUT', '/operator/v1/sites/gipfel/takedown', { status: 451, reason: 'Order' })
  for (const ask of asks) t.is((await ask('gipfel.sites.test', '/')).status, 451)
})

test('standing hold: set at one daemon, applied by another, released at a third', async (t) => {
  await using sink = await Sink.listen()
  const several = await severalDaemons(t, await postgresql().database())
  const [a, b, c] = await Promise.all([several.start(), several.start(), several.start()])
  await makeRoute(a.rest, await makeDestination(a.rest, { name: 'host', port: sink.port, mode: 'live' }))
  const mail = { from: 'a@site.test', subject: 's', text: 't' }
  const arrived: string[] = []
  sink.on('delivery', ({ content }: { readonly content: Buffer }) => arrived.push(/^To: (.*)\r$/m.exec(content.toString())?.[1] ?? ''))
  const send = ({ rest }: Daemon, to: string) => rest.must('POST', '/v1/messages', { ...mail, to })
  const hold = await a.rest.must('POST', '/v1/queue/holds', { filter: { to_domain: 'held.test' }, reason: 'provider incident' })
  const held = await Promise.all([a, b, c].map((daemon, at) => send(daemon, `${at}@held.test`)))
  for (const { trace_id } of held)
    await waitFor('the message is held', async () => {
      const { held: since } = await c.rest.must('GET', `/v1/traces/${String(trace_id)}`)
      return since ?? undefined
    })
  t.deepEqual(arrived, [])
  await c.rest.must('POST', `/v1/queue/holds/${String(hold['id'])}/release`)
  await send(b, 'later@held.test')
  while (arrived.length < 4) await once(sink, 'delivery')
  t.deepEqual(arrived.toSorted(inText), ['0@held.test', '1@held.test', '2@held.test', 'later@held.test'])
})

test('hold: released during an attempt of another daemon, does not hold the retry', async (t) => {
  const [atDot, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const message = async (): Promise<string> => {
    atDot.resolve()
    await mayEnd.promise
    return '451 4.3.2 Try again later'
  }
  await using sink = await Sink.listen({ script: { message } })
  const several = await severalDaemons(t, await postgresql().database())
  const daemons = await Promise.all([several.start(), several.start(), several.start()])
  const [a, b, c] = daemons
  await makeRoute(a.rest, await makeDestination(a.rest, { name: 'host', port: sink.port, mode: 'live' }))
  const { trace_id } = await a.rest.must('POST', '/v1/messages', { from: 'a@site.test', to: 'b@peer.test', subject: 's', text: 't' })
  await atDot.promise
  for (const [act, { rest }] of [
    ['hold', b],
    ['release', c],
  ] as const) {
    const { id } = await rest.must('POST', '/v1/queue/acts', { act, filter: {}, expected: 1 })
    const end = await waitFor(`the act ${act} ended`, async () => {
      const made = await rest.must('GET', `/v1/queue/acts/${String(id)}`)
      return made['status'] === 'running' ? undefined : made
    })
    t.like(end, { status: 'finished', counters: { acted: 1, in_flight: 1 } }, act)
  }
  mayEnd.resolve()
  const trace = await waitFor('the attempt ended', async () => {
    const found = await b.rest.must('GET', `/v1/traces/${String(trace_id)}`)
    return found['attempts'] === 1 ? found : undefined
  })
  t.like(trace, { status: 'queued', held: false })
  for (const { rest } of daemons) t.like((await Array.fromAsync(rest.rows('/v1/queue')))[0], { state: 'retry' })
})

test('capture: wakes a wait at another daemon once; all daemons list it', async (t) => {
  const several = await severalDaemons(t, await postgresql().database())
  const [a, b] = await Promise.all([several.start(), several.start()])
  const inbox = await catchAllInbox(a.rest)
  let isAwake = false
  const waiting = b.rest.call('POST', `/v1/inboxes/${inbox}/wait?timeout=30`).finally(() => (isAwake = true))
  const sent: string[] = []
  await waitFor('a message wakes the waiting request', async () => {
    const { trace_id } = await a.rest.must('POST', '/v1/messages', { from: 'a@site.test', to: 'b@inbox.test', subject: 's', text: 't' })
    sent.push(String(trace_id))
    return isAwake
  })
  const woken = await waiting
  t.is(woken.status, 200, 'long before its timeout')
  t.true(sent.includes(String((woken.body as { trace_id: unknown }).trace_id)))
  const shown: string[] = []
  for await (const row of b.rest.rows(`/v1/inboxes/${inbox}/messages`)) shown.push(String(row['trace_id']))
  t.deepEqual(shown.toSorted(inText), sent.toSorted(inText))
})

test('queue: moves to a new daemon and back when it stops', async (t) => {
  await using sink = await Sink.listen()
  const several = await severalDaemons(t, await postgresql().database())
  const a = await several.start()
  const sites = Array.from({ length: 12 }, (_, at) => `site${at}.test`)
  for (const site of sites) await makeRoute(a.rest, await makeDestination(a.rest, { name: site, port: sink.port, mode: 'live' }), site)
  const arrived = new Set<string>()
  sink.on('delivery', ({ content }: { readonly content: Buffer }) => arrived.add(/^Subject: (.*)\r$/m.exec(content.toString())?.[1] ?? ''))
  let sent = 0
  const sendToAll = async (): Promise<void> => {
    for (const site of sites) {
      await a.rest.must('POST', '/v1/messages', { from: `a@${site}`, to: 'b@there.test', subject: String(sent++), text: 't' })
    }
  }
  const b = await several.start()
  let isRelaying = false
  const relaying = b.said(/delivery attempt/).then(() => (isRelaying = true))
  await waitFor('the second daemon relays', async () => {
    await sendToAll()
    return isRelaying
  })
  await relaying
  t.is((await b.stop()).code, 0)
  await sendToAll()
  while (arrived.size < sent) await once(sink, 'delivery')
  t.is(arrived.size, sent)
})

test('hanging provider: a new daemon relays other mail, and nothing is sent twice', async (t) => {
  await using sink = await Sink.listen()
  const several = await severalDaemons(t, await postgresql().database())
  const a = await several.start()
  const byPart = new Map<number, string[]>()
  for (let at = 0; at < 40; at++) {
    const [site, id] = [`s${at}.test`, await makeDestination(a.rest, { name: `s${at}`, port: sink.port, mode: 'live' })]
    await makeRoute(a.rest, id, site)
    const part = partOf({ destinationId: id })
    byPart.set(part, [...(byPart.get(part) ?? []), site])
  }
  const send = (site: string, subject: string): Promise<unknown> =>
    a.rest.must('POST', '/v1/messages', { from: `a@${site}`, to: 'b@there.test', subject, text: 't' })
  const pairs = [...byPart.values()].filter((sites) => sites.length > 1)
  const alone = [...byPart.values()].filter((sites) => sites.length === 1).flat()
  const arrived: string[] = []
  sink.on('delivery', ({ content }: { readonly content: Buffer }) => arrived.push(/^Subject: (.*)\r$/m.exec(content.toString())?.[1] ?? ''))
  sink.script = (step) => (step === 'dot' ? { act: 'hold' } : undefined)
  for (const [site = ''] of pairs) await send(site, `hangs ${site}`)
  await sink.reached('dot', pairs.length)
  sink.script = {}
  const b = await several.start()
  let isRelaying = false
  const relaying = b.said(/delivery attempt/).then(() => (isRelaying = true))
  await waitFor('the second daemon relays', async () => {
    for (const site of alone) await send(site, 'alone')
    return isRelaying
  })
  await relaying // all movable work has moved
  for (const [, site = ''] of pairs) await send(site, `goes ${site}`)
  const gone = (): number => arrived.filter((subject) => subject.startsWith('goes')).length
  await waitFor('others in the same parts are relayed', async () => gone() === pairs.length)
  t.deepEqual(
    arrived.filter((subject) => subject.startsWith('hangs')),
    [],
  )
  sink.release()
  for (const [site = ''] of pairs) await send(site, `later ${site}`)
  const later = (): number => arrived.filter((subject) => subject.startsWith('later')).length
  await waitFor('the provider is relayed to again', async () => later() === pairs.length)
  const hung = arrived.filter((subject) => subject.startsWith('hangs'))
  t.deepEqual(hung.toSorted(inText), pairs.map(([site]) => `hangs ${site}`).toSorted(inText), 'ledger: each is relayed once')
})

test('lost connections: the daemon opens each of them once again', async (t) => {
  const database = await postgresql().database()
  const several = await severalDaemons(t, database)
  const a = await several.start()
  const name = database.split('/').at(-1) ?? ''
  const connections = (): Promise<readonly Record<string, unknown>[]> =>
    postgresql().query(`SELECT pid FROM pg_stat_activity WHERE datname = '${name}' AND application_name = 'postern daemon'`)
  const [before] = await connections()
  await postgresql().query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`)
  for (let i = 0; i < 5; i++) await a.rest.must('POST', '/v1/api-keys', { name: `key ${i}`, scopes: ['api:send'] })
  const now = await waitFor('the daemon has a new connection', async () => {
    const found = await connections()
    return found.length > 0 && found[0]?.['pid'] !== before?.['pid'] && found
  })
  t.is(now.length, 1)
})
