/** Images of other hosts: fetched completely with status 200, or not at all. */
import { createServer, type RequestListener } from 'node:http'
import test, { type ExecutionContext } from '#test'
import { addressGuard, type AllowedRange } from '#core/outbound/address-guard.ts'
import { guardedGet } from '../../../protocols/outbound/clients.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { testResolver } from '../relay/relay-fixture.ts'
import { listenIn } from '../../support/web/listen.ts'

const limits = { deadlineMs: 5000, maxBytes: 4 }
const never = new AbortController().signal

async function site(t: ExecutionContext, answer: RequestListener, allowed: readonly AllowedRange[] = [{ cidr: '127.0.0.1/32' }]) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.accept} ${request.headers.connection}`)
    answer(request, response)
  })
  const port = await listenIn(t, server)
  const clock = new FakeClock()
  const get = guardedGet({ resolver: testResolver, guard: addressGuard(allowed), clock })
  return { asked, clock, get: (signal = never) => get(`http://mail.test:${port}/a.png?b=c`, limits, signal) }
}

test('guardedGet(): returns a file of exactly the limit, also over http', async (t) => {
  const { get, asked } = await site(t, (_request, response) => response.end('1234'))
  t.is(Buffer.from((await get()) ?? []).toString(), '1234')
  t.deepEqual(asked, ['GET /a.png?b=c image/* close'])
})

test('guardedGet(): undefined for a long or broken file, other status, redirect', async (t) => {
  const answers: RequestListener[] = [
    (_request, response) => response.end('12345'),
    (_request, response) => response.writeHead(404).end('1234'),
    (_request, response) => response.writeHead(302, { location: '/b.png' }).end(),
    (_request, response) => response.writeHead(200, { 'content-length': 4 }).write('12', () => response.destroy()),
    (_request, response) => response.writeHead(101, { connection: 'upgrade', upgrade: 'x' }).end(),
    (_request, response) => response.destroy(),
  ]
  for (const answer of answers) {
    const { get, asked } = await site(t, answer)
    t.is(await get(), undefined, answer.toString())
    t.is(asked.length, 1)
  }
})

test('guardedGet(): undefined after timeout or abort, and for forbidden addresses', async (t) => {
  const begun = Promise.withResolvers<void>()
  const { get, clock } = await site(t, (_request, response) => response.writeHead(200).write('1', () => begun.resolve()))
  const late = get()
  await begun.promise
  clock.advance(limits.deadlineMs)
  t.is(await late, undefined)
  t.is(await get(AbortSignal.abort()), undefined)
  const inside = await site(t, (_request, response) => response.end('1'), [])
  t.is(await inside.get(), undefined)
  t.deepEqual(inside.asked, [])
})
