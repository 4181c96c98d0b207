/** The site listener with hostile clients, over raw sockets and with fake sites. */
import { connect, type Socket } from 'node:net'
import test, { type ExecutionContext } from '#test'
import type { SiteAnswer } from '#core/sites/serving/site-answer.ts'
import type { SiteView } from '#core/sites/serving/site-views.ts'
import { SiteServer, type SiteServerOptions } from '../../../admin-api/sites/site-server.ts'
import { isWhole, open, receive } from '../http/demo-api.ts'

const view: SiteView = { organizationId: 'org_1', siteId: 'sit_1', state: 'live', deploy: undefined, isPreview: false }
const get = (path = '/', fields = '') => `GET ${path} HTTP/1.1\r\nHost: a.sites.test\r\n${fields}\r\n`

interface Changes extends Partial<SiteServerOptions> {
  readonly answer?: (target: string) => SiteAnswer | Promise<SiteAnswer>
}

/** Starts a listener that serves `a.sites.test` with the target as response. Resolves with its port. */
async function serving(t: ExecutionContext, { answer = plain, ...changes }: Changes = {}): Promise<number> {
  const server = new SiteServer({
    listen: { host: '127.0.0.1', port: 0 },
    ...{ maxConnections: 100, maxPerAddress: 3, countsLoopback: true, trustProxy: [], traffic: { count: () => {} } },
    views: { cached: () => undefined, find: async (host) => (host === 'a.sites.test' ? view : undefined), isServed: async () => true },
    answers: { known: () => undefined, answer: async (_view, { target }) => answer(target) },
    ...{ onListening: () => {}, onError: (error) => t.fail(String(error)) },
    ...changes,
  })
  const { port } = await server.listen()
  t.teardown(() => server.close(0))
  return port
}

function plain(target: string): SiteAnswer {
  const body = Buffer.from(target)
  return { status: 200, headers: { 'content-length': body.length }, body }
}

async function ask(socket: Socket, request: string): Promise<string> {
  socket.write(request)
  return receive(socket, isWhole)
}

test('connections: limited per address; a closed one frees its place', async (t) => {
  const port = await serving(t)
  const [first, ...others] = [await open(t, port), await open(t, port), await open(t, port)]
  const fourth = await open(t, port)
  t.is(await receive(fourth), '', 'it is closed without a response')
  for (const socket of [first, ...others]) t.regex(await ask(socket, get()), /^HTTP\/1\.1 200 /)
  const elsewhere = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' }).setEncoding('latin1')
  t.teardown(() => elsewhere.destroy())
  t.regex(await ask(elsewhere, get()), /^HTTP\/1\.1 200 /)
  first.end(get('/', 'Connection: close\r\n'))
  await receive(first)
  t.regex(await ask(await open(t, port), get()), /^HTTP\/1\.1 200 /)
})

test('connections: behind a trusted proxy, open requests are limited per visitor', async (t) => {
  const under = Promise.withResolvers<void>()
  let waiting = 0
  const all = Promise.withResolvers<void>()
  const answer = async (target: string): Promise<SiteAnswer> => {
    if (target !== '/wait') return plain(target)
    if (++waiting === 3) all.resolve()
    await under.promise
    return plain(target)
  }
  const port = await serving(t, { answer, trustProxy: ['127.0.0.1'] })
  const from = (address: string, path = '/') => get(path, `X-Forwarded-For: 203.0.113.9, ${address}, 127.0.0.1\r\n`)
  const held = [1, 2, 3].map(async (n) => ask(await open(t, port), from(`2001:db8::${n}`, '/wait')))
  await all.promise
  const full = await ask(await open(t, port), from('2001:db8::4'))
  t.regex(full, /^HTTP\/1\.1 503 [^]*retry-after/i, 'the /64 is one visitor')
  t.regex(await ask(await open(t, port), from('2001:db8:0:1::1')), /^HTTP\/1\.1 200 /)
  under.resolve()
  for (const reply of await Promise.all(held)) t.regex(reply, /^HTTP\/1\.1 200 /)
  t.regex(await ask(await open(t, port), from('2001:db8::4')), /^HTTP\/1\.1 200 /)
})

test('connections: slow readers and slow senders are disconnected', async (t) => {
  const ended = Promise.withResolvers<number>()
  const answer = (): SiteAnswer => ({ status: 200, headers: {}, body: endless() })
  const limits = { idleMs: 100, headersMs: 100, checkMs: 20 }
  const port = await serving(t, { answer, limits, traffic: { count: (_organization, _site, bytes) => ended.resolve(bytes) } })
  while (!(await readsNoFurther(await open(t, port))));
  t.true((await ended.promise) > 0, 'sent octets are counted')
  const dribbling = await open(t, port)
  dribbling.write('GET / HTTP/1.1\r\nHost: a.sites.test\r\nX-A')
  const more = setInterval(() => dribbling.write('a'), 20)
  const lost = Promise.withResolvers<unknown>() // by its end, or by a reset if a letter was still in transit
  dribbling.on('error', lost.resolve).on('close', lost.resolve).resume()
  await lost.promise
  clearInterval(more)
})

/** Returns false if the connection ended before a response. This happens if a busy machine delays the request. */
async function readsNoFurther(socket: Socket): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  socket
    .once('close', () => resolve(false))
    .once('data', (text: string) => {
      socket.pause()
      resolve(text.startsWith('HTTP/1.1 200 '))
    })
  socket.write(get('/large'))
  return promise
}

async function* endless(): AsyncGenerator<Buffer> {
  for (;;) yield Buffer.alloc(65_536)
}

test('requests: a body is neither read nor requested', async (t) => {
  const port = await serving(t)
  const large = await open(t, port)
  large.write('POST / HTTP/1.1\r\nHost: a.sites.test\r\nContent-Length: 1000000000\r\n\r\nabc')
  const reply = await receive(large)
  t.regex(reply, /^HTTP\/1\.1 200 [^]*connection: close/i)
  const expecting = await open(t, port)
  expecting.write(get('/x', 'Expect: 100-continue\r\nContent-Length: 5\r\n'))
  t.regex(await receive(expecting), /^HTTP\/1\.1 200 /)
})

test('requests: the host of the target overrides the field; two fields are refused', async (t) => {
  const port = await serving(t, { maxPerAddress: 50 })
  const replies: Readonly<Record<string, RegExp>> = {
    'GET http://A.sites.test:80/x?y HTTP/1.1\r\nHost: b.sites.test\r\n\r\n': /^HTTP\/1\.1 200 [^]*\r\n\r\n\/x\?y$/,
    'GET http://a.sites.test HTTP/1.1\r\nHost: b.sites.test\r\n\r\n': /^HTTP\/1\.1 200 [^]*\r\n\r\n\/$/,
    'GET http://b.sites.test/ HTTP/1.1\r\nHost: a.sites.test\r\n\r\n': /^HTTP\/1\.1 404 /,
    'GET http://u@a.sites.test/ HTTP/1.1\r\nHost: b.sites.test\r\n\r\n': /^HTTP\/1\.1 404 /,
    'GET / HTTP/1.1\r\nHost: A.Sites.TEST.:8081\r\n\r\n': /^HTTP\/1\.1 200 /,
    'GET / HTTP/1.1\r\nHost: a.sites.test\r\nHost: a.sites.test\r\n\r\n': /^HTTP\/1\.1 400 /,
    'GET / HTTP/1.0\r\n\r\n': /^HTTP\/1\.1 404 /,
    'GET /internal/tls-allow?domain=x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n': /^HTTP\/1\.1 200 /,
    'GET http://127.0.0.1/internal/tls-allow?domain=x HTTP/1.1\r\nHost: a.sites.test\r\n\r\n': /^HTTP\/1\.1 200 /,
    'GET /internal/tls-allow?domain=x HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n': /^HTTP\/1\.1 404 /,
    ...Object.fromEntries(
      ['Forwarded: for=192.0.2.1', 'X-Real-IP: 192.0.2.1', 'X-Forwarded-Host: x', 'Via: 1.1 proxy', 'X-Client-IP: 192.0.2.1'].map(
        (field) => [`GET /internal/tls-allow?domain=x HTTP/1.1\r\nHost: 127.0.0.1\r\n${field}\r\n\r\n`, /^HTTP\/1\.1 404 /],
      ),
    ),
    'GET http://a.sites.test/internal/tls-allow?domain=x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n': /\r\n\r\n\/internal\/tls-allow\?domain=x$/,
  }
  for (const [request, reply] of Object.entries(replies)) t.regex(await ask(await open(t, port), request), reply, request)
})

test('requests: pipelined ones get responses in order', async (t) => {
  const port = await serving(t)
  const socket = await open(t, port)
  socket.write(Array.from({ length: 50 }, (_, i) => get(`/${i}`, i === 49 ? 'Connection: close\r\n' : '')).join(''))
  const bodies = [...(await receive(socket)).matchAll(/\r\n\r\n\/(\d+)/g)].map(([, n]) => Number(n))
  t.deepEqual(
    bodies,
    Array.from({ length: 50 }, (_, i) => i),
  )
})
