/** Requests to untrusted receivers: limited time and memory, and no access to private addresses. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer, type Socket } from 'node:net'
import test, { type ExecutionContext } from '#test'
import type { Clock } from '#core/clock.ts'
import { addressGuard, type AllowedRange } from '#core/outbound/address-guard.ts'
import type { PostOutcome } from '#core/outbound/post.ts'
import type { Resolver } from '#core/outbound/resolver.ts'
import { guardedPost } from '../../../protocols/outbound/clients.ts'
import { receiverOf } from '../../support/web/webhook-receiver.ts'
import { authority, goodCertificate } from '../relay/certificates.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { testResolver } from '../relay/relay-fixture.ts'
import { listenIn } from '../../support/web/listen.ts'
import { waiting } from '../../support/waits.ts'

const limits = { deadlineMs: 10_000, maxAnswerBytes: 4096 }
const never = new AbortController().signal
const message = { headers: { 'content-type': 'application/json', 'x-test': 'a' }, body: Buffer.from('{"a":"ä"}') }

interface Surroundings {
  readonly clock?: Clock
  readonly allowed?: readonly AllowedRange[]
  readonly resolver?: Resolver
  readonly trusted?: readonly string[]
}

const postFrom = ({
  clock = new FakeClock(),
  allowed = [{ cidr: '127.0.0.1/32' }],
  resolver = testResolver,
  trusted = [authority],
}: Surroundings = {}) => {
  const post = guardedPost({ resolver, guard: addressGuard(allowed), clock, trusted })
  return (url: string, signal: AbortSignal = never): Promise<PostOutcome> => post({ url, ...message }, limits, signal)
}

/** A server that controls the raw connection. */
async function rawServer(t: ExecutionContext, behave: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined))
    behave(socket)
  })
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })
  return `http://127.0.0.1:${await listenIn(t, server)}/`
}

/** Resolves when a client of this process has read the head of an answer and the data after it. */
function firstAnswer(t: ExecutionContext): Promise<void> {
  const channel = 'http.client.response.finish'
  const { promise, resolve } = Promise.withResolvers<void>()
  const hear = (): void => void setImmediate(resolve)
  subscribe(channel, hear)
  t.teardown(() => unsubscribe(channel, hear))
  return waiting('the head of an answer', promise)
}

const textOf = (outcome: PostOutcome): unknown =>
  'problem' in outcome ? outcome.problem : { status: outcome.status, answer: Buffer.from(outcome.answer).toString() }

test('guardedPost(): sends the exact body over TLS; returns the start of the answer', async (t) => {
  const receiver = await receiverOf(t, { certificate: goodCertificate, answer: (response) => response.writeHead(201).end('taken') })
  t.deepEqual(textOf(await postFrom()(`${receiver.url}?a=b`)), { status: 201, answer: 'taken' })
  const [{ path, headers, body } = { path: '', headers: {}, body: '' }] = receiver.received
  t.deepEqual([path, body, headers['x-test'], headers['content-length']], ['/hook?a=b', '{"a":"ä"}', 'a', '10'])
  t.is(headers.host, `localhost:${receiver.port}`)
})

test('guardedPost(): untrusted certificate stops the request before data is sent', async (t) => {
  const receiver = await receiverOf(t, { certificate: goodCertificate })
  t.regex(String(textOf(await postFrom({ trusted: [] })(receiver.url))), /certificate of the host could not be verified/)
  t.is(receiver.received.length, 0)
})

test('guardedPost(): a redirect is an answer and is not followed', async (t) => {
  const receiver = await receiverOf(t, { answer: (response) => response.writeHead(307, { location: '/other' }).end() })
  t.deepEqual(textOf(await postFrom()(receiver.url)), { status: 307, answer: '' })
  t.is(receiver.received.length, 1)
})

test('guardedPost(): reads the start of a 10 MB answer and closes the connection', async (t) => {
  const closed = Promise.withResolvers<number>()
  const receiver = await receiverOf(t, {
    answer(response, request) {
      response.writeHead(200)
      const piece = Buffer.alloc(64 * 1024, 'x')
      let left = 160
      const pour = (): void => {
        while (left > 0) {
          left--
          if (!response.write(piece)) return void response.once('drain', pour)
        }
        response.end()
      }
      request.socket.on('close', () => closed.resolve(left))
      pour()
    },
  })
  const outcome = await postFrom()(receiver.url)
  t.deepEqual(textOf(outcome), { status: 200, answer: 'x'.repeat(4096) })
  t.true((await closed.promise) > 0, 'it was stopped before its end')
})

test('guardedPost(): silent or dripping receiver fails at the deadline', async (t) => {
  const heard = Promise.withResolvers<void>()
  const silent = await rawServer(t, (socket) => socket.on('data', () => heard.resolve()))
  const clock = new FakeClock()
  const outcome = postFrom({ clock })(silent)
  await heard.promise
  clock.advance(9999)
  t.is(await Promise.race([outcome, new Promise((resolve) => setImmediate(resolve, 'waits'))]), 'waits')
  clock.advance(1)
  t.is(textOf(await outcome), 'The receiver did not answer within 10 seconds.')
  const begun = Promise.withResolvers<void>()
  const dripping = await rawServer(t, (socket) => socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nx-a: ', () => begun.resolve())))
  const second = postFrom({ clock })(dripping)
  await begun.promise
  clock.advance(10_000)
  t.is(textOf(await second), 'The receiver did not answer within 10 seconds.')
})

test('guardedPost(): the status counts if the body drips or is cut off', async (t) => {
  const clock = new FakeClock()
  const dripping = await receiverOf(t, { answer: (response) => void response.writeHead(200).write('a') })
  const answered = firstAnswer(t)
  const outcome = postFrom({ clock })(dripping.url)
  await answered
  clock.advance(10_000)
  t.deepEqual(textOf(await outcome), { status: 200, answer: 'a' })
  const broken = await rawServer(t, (socket) => socket.on('data', () => socket.end('HTTP/1.1 500 No\r\ncontent-length: 10\r\n\r\nab')))
  t.deepEqual(textOf(await postFrom()(broken)), { status: 500, answer: 'ab' })
})

test('guardedPost(): distinguishes early close, protocol switch and invalid HTTP', async (t) => {
  const closing = await rawServer(t, (socket) => socket.on('data', () => socket.destroy()))
  t.is(textOf(await postFrom()(closing)), 'The receiver closed the connection without an answer.')
  const switching = await rawServer(t, (socket) => {
    socket.on('data', () => socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'))
  })
  t.is(textOf(await postFrom()(switching)), 'The receiver closed the connection without an answer.')
  const other = await rawServer(t, (socket) => socket.on('data', () => socket.end('SSH-2.0-x\r\n')))
  t.regex(String(textOf(await postFrom()(other))), /is not valid HTTP/)
  const wide = await rawServer(t, (socket) => socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}`)))
  t.regex(String(textOf(await postFrom()(wide))), /is not valid HTTP/)
})

test('guardedPost(): name of a private address is refused, also after DNS rebinding', async (t) => {
  const receiver = await receiverOf(t)
  const answers = [['8.8.8.8'], ['127.0.0.1'], ['10.1.2.3', '169.254.169.254', '127.0.0.1']]
  const resolver: Resolver = { resolve4: async () => answers.shift() ?? [], resolve6: async () => ['::ffff:127.0.0.1', '::1'] }
  t.deepEqual(await resolver.resolve4('rebinding.test'), ['8.8.8.8'], 'what a first look sees')
  for (const url of [
    `https://rebinding.test:${receiver.port}/`,
    `https://inside.test:${receiver.port}/`,
    `http://127.0.0.1:${receiver.port}/`,
  ]) {
    t.is(textOf(await postFrom({ resolver, allowed: [] })(url)), 'The host has no address that this service may connect to.')
  }
  t.is(receiver.connections, 0)
})

test('guardedPost(): no http to public addresses', async (t) => {
  const resolver: Resolver = { resolve4: async () => ['8.8.8.8'], resolve6: async () => [] }
  t.is(textOf(await postFrom({ resolver })('http://receiver.test/')), 'The host has no address that this service may connect to.')
})

test('guardedPost(): reports an abort as ours', async (t) => {
  const heard = Promise.withResolvers<void>()
  const silent = await rawServer(t, (socket) => socket.on('data', () => heard.resolve()))
  const stop = new AbortController()
  const outcome = postFrom()(silent, stop.signal)
  await heard.promise
  stop.abort()
  t.like(await outcome, { isOurs: true })
  t.like(await postFrom()(silent, AbortSignal.abort()), { isOurs: true })
})
