/** Documents of other hosts: fetched completely or not at all, and never from private addresses. */
import { createServer } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import test, { type ExecutionContext } from '#test'
import { addressGuard, type AllowedRange } from '#core/outbound/address-guard.ts'
import { FetchFailed } from '#core/outbound/fetch.ts'
import { guardedFetch } from '../../../protocols/outbound/clients.ts'
import { publicFetch } from '../../../daemon/composition/oauth-core.ts'
import { authority, goodCertificate } from '../relay/certificates.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { testResolver } from '../relay/relay-fixture.ts'
import { listenIn } from '../../support/web/listen.ts'

const limits = { deadlineMs: 20_000, maxBytes: 1000 }

async function site(
  t: ExecutionContext,
  handle: (req: IncomingMessage, res: ServerResponse) => void,
  allowed: readonly AllowedRange[] = [{ cidr: '127.0.0.1/32' }],
) {
  const asked: string[] = []
  const server = createServer(goodCertificate, (req, res) => {
    asked.push(`${req.method ?? ''} ${req.url ?? ''} ${req.headers.accept ?? ''} ${req.headers.host ?? ''}`)
    handle(req, res)
  })
  const port = await listenIn(t, server)
  const fetch = guardedFetch({ resolver: testResolver, guard: addressGuard(allowed), clock: new FakeClock(), trusted: [authority] })
  return { asked, port, origin: `https://localhost:${port}`, fetch }
}

test('guardedFetch(): returns status, headers and text; sends no extra headers', async (t) => {
  const { asked, port, origin, fetch } = await site(t, (_req, res) =>
    res.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'max-age=60' }).end('{"a":1}'),
  )
  const document = await fetch(`${origin}/a/b.json?c=d`, limits)
  t.like(document, { status: 200, headers: { 'content-type': 'application/json', 'cache-control': 'max-age=60' }, text: '{"a":1}' })
  t.deepEqual(asked, [`GET /a/b.json?c=d application/json localhost:${port}`])
})

test('guardedFetch(): does not follow redirects', async (t) => {
  const { asked, fetch, origin } = await site(t, (_req, res) => res.writeHead(302, { location: '/other' }).end())
  t.like(await fetch(`${origin}/first`, limits), { status: 302 })
  t.is(asked.length, 1)
})

test('guardedFetch(): rejects a too long answer', async (t) => {
  const { fetch, origin } = await site(t, (_req, res) => res.end('x'.repeat(1001)))
  await t.throwsAsync(fetch(origin, limits), { instanceOf: FetchFailed, message: /The limit is 1000 bytes/ })
})

test('guardedFetch(): rejects a slow answer', async (t) => {
  const begun = Promise.withResolvers<void>()
  const { origin } = await site(t, (_req, res) => {
    res.write('{')
    begun.resolve()
  })
  const clock = new FakeClock()
  const fetch = guardedFetch({ resolver: testResolver, guard: addressGuard([{ cidr: '127.0.0.1/32' }]), clock, trusted: [authority] })
  const failed = t.throwsAsync(fetch(origin, limits), { instanceOf: FetchFailed, message: 'The host did not answer in time.' })
  await begun.promise
  clock.advance(limits.deadlineMs)
  await failed
})

test('guardedFetch(): rejects unknown hosts, broken answers, untrusted certificates', async (t) => {
  const { fetch, origin, port } = await site(t, (req) => req.socket.destroy())
  await t.throwsAsync(fetch('https://nowhere.test/x', limits), { instanceOf: FetchFailed })
  await t.throwsAsync(fetch(origin, limits), { instanceOf: FetchFailed })
  const strict = guardedFetch({ resolver: testResolver, guard: addressGuard([{ cidr: '127.0.0.1/32' }]), clock: new FakeClock() })
  await t.throwsAsync(strict(`https://localhost:${port}`, limits), { instanceOf: FetchFailed, message: /certificate/ })
})

test('publicFetch(): no name reaches a private address', async (t) => {
  const { asked, port } = await site(t, (_req, res) => res.end('{}'))
  const fetch = publicFetch(
    { resolve4: async () => ['127.0.0.1', '10.0.0.1', '169.254.169.254'], resolve6: async () => ['::1', 'fd00::1', '::ffff:10.0.0.1'] },
    new FakeClock(),
  )
  for (const host of ['localhost', 'inside.example', '127.0.0.1', '[::1]', '169.254.169.254', '2130706433'])
    await t.throwsAsync(fetch(`https://${host}:${port}/`, limits), {
      instanceOf: FetchFailed,
      message: 'The host has no address that this service may connect to.',
    })
  t.deepEqual(asked, [])
})
