/** Streamed bodies and answers: limits, back-pressure, and the end of one side. */
import { Readable } from 'node:stream'
import test, { type ExecutionContext } from '#test'
import * as z from 'zod'
import { Fairness } from '#core/fairness/fairness.ts'
import { ThreadMeter } from '#core/fairness/thread-meter.ts'
import type { Work } from '#core/fairness/work.ts'
import { StoreDamaged } from '#store/kv.ts'
import { media, raw } from '../../../admin-api/operation/answer.ts'
import { isStreamed, streamed } from '../../../admin-api/bodies/body-stream.ts'
import { buildOpenApi } from '../../../admin-api/openapi/openapi.ts'
import type { AdminApiOptions } from '../../../admin-api/http/http-server.ts'
import { operation } from '../../../admin-api/operation/operation.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { call, errorOf, isWhole, keyOf, ofTwo, open, receive, startDemo } from '../http/demo-api.ts'

const limit = 300_000
const large = 32 * 1_048_576

/** Counts the octets of a body. The path selects the stop and the answer. */
async function start(t: ExecutionContext, options: Partial<AdminApiOptions<unknown>> = {}) {
  const seen: number[] = []
  const hold = Promise.withResolvers<void>()
  const started = Promise.withResolvers<void>()
  const produced = { bytes: 0, ended: Promise.withResolvers<void>() }
  async function* without(end: 'end' | 'break' | 'fail'): AsyncGenerator<Buffer> {
    try {
      if (end === 'fail') throw new StoreDamaged('segment 1 cannot be read')
      for (let i = 0; end === 'end' || i < 3; i++) {
        produced.bytes += 65_536
        yield Buffer.alloc(65_536)
      }
      throw new Error('the secret inside')
    } finally {
      produced.ended.resolve()
    }
  }
  const counter = (operationId: string, maxBodyBytes: number) =>
    operation({
      method: 'POST',
      path: `/v1/${operationId}/{how}`,
      operationId,
      summary: 'Count a body',
      tags: [],
      scope: 'api:send',
      params: z.strictObject({ how: z.string() }),
      maxBodyBytes,
      body: streamed({ 'text/csv': z.string(), 'application/json': z.array(z.string()) }),
      response: z.object({ bytes: z.int(), type: z.string() }),
      examples: { body: ['a'] },
      async handle({ params, body }) {
        let bytes = 0
        started.resolve()
        if (params.how === 'later') await hold.promise
        if (params.how === 'kept') await body.keep()
        if (params.how === 'begun') await body.bytes[Symbol.asyncIterator]().next()
        for await (const chunk of params.how === 'begun' ? [] : body.bytes) {
          bytes += chunk.length
          seen.push(chunk.length)
          if (params.how === 'some') break
        }
        return { bytes, type: body.mediaType }
      },
    })
  const counted = counter('count', limit)
  const streaming = operation({
    method: 'GET',
    path: '/v1/stream/{end}',
    operationId: 'stream',
    summary: 'Stream',
    tags: [],
    scope: 'api:read',
    params: z.strictObject({ end: z.enum(['end', 'break', 'fail']) }),
    response: media('application/octet-stream'),
    handle: ({ params }) => raw(Readable.from(without(params.end)), { contentType: 'application/octet-stream' }),
  })
  const demo = await startDemo(t, { operations: [counted, counter('large', large), streaming], ...options })
  return { ...demo, seen, hold, started, produced, counted }
}

const csv = { 'content-type': 'text/csv' }
const head = (path: string, length: number) =>
  `POST /v1/${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${keyOf('api:send')}\r\nContent-Type: text/csv\r\nContent-Length: ${length}\r\n\r\n`

test('buffered body: waits for bodies of its organization, not of other ones', async (t) => {
  const { port, answered } = await start(t, { limits: { maxBodyMemoryBytes: 400_000 }, authenticate: ofTwo })
  const body = Buffer.alloc(150_000, 'x')
  const slow = await open(t, port)
  slow.write(Buffer.concat([Buffer.from(head('count/kept', body.length)), body.subarray(0, 100)]))
  const own = await open(t, port)
  own.write(Buffer.concat([Buffer.from(head('count/kept', body.length)), body]))
  const headers = { ...csv, authorization: 'Bearer other' }
  t.is((await call(port, 'POST', '/v1/count/kept', { headers, body: 'x'.repeat(80_000) })).status, 200)
  t.deepEqual(
    answered.map(({ organizationId }) => organizationId),
    ['other'],
  )
  slow.write(body.subarray(100))
  for (const socket of [slow, own]) t.true((await receive(socket, isWhole)).startsWith('HTTP/1.1 200 '))
})

test('openBodyStream() accepts only the declared media types, in UTF-8', async (t) => {
  const { port } = await start(t)
  const send = (type: string, more: Record<string, string> = {}) =>
    call(port, 'POST', '/v1/count/all', { key: 'api:send', body: 'abc', headers: { 'content-type': type, ...more } })
  for (const type of ['text/csv', 'TEXT/CSV', 'text/csv; charset=utf-8', 'text/csv;header=present; charset="UTF-8"']) {
    t.deepEqual(JSON.parse((await send(type)).text), { bytes: 3, type: 'text/csv' }, type)
  }
  t.like(JSON.parse((await send('application/json')).text), { type: 'application/json' })
  for (const type of ['text/plain', 'text/csv; charset=latin1', 'text/csv; charset=utf-16', 'text/csvx', 'text/csv; charset', '']) {
    const reply = await send(type)
    t.is(reply.status, 415, type)
    t.is(errorOf(reply).message, 'Send the body in UTF-8, with the header "Content-Type: text/csv" or "application/json".')
  }
  t.is((await send('text/csv', { 'content-encoding': 'gzip' })).status, 415)
})

test('openBodyStream() refuses a body above the limit by declared and by counted length', async (t) => {
  const { port, seen } = await start(t)
  const declared = await call(port, 'POST', '/v1/count/all', { key: 'api:send', body: 'x'.repeat(limit + 1), headers: csv })
  t.is(declared.status, 413)
  t.deepEqual(seen, [])
  const chunked = { ...csv, 'transfer-encoding': 'chunked' }
  const counted = await call(port, 'POST', '/v1/count/all', { key: 'api:send', body: 'x'.repeat(limit + 1), headers: chunked })
  t.is(counted.status, 413)
  t.like(errorOf(counted), { message: `The body may have at most ${limit} bytes; this one has more.` })
  const whole = await call(port, 'POST', '/v1/count/all', { key: 'api:send', body: 'x'.repeat(limit), headers: chunked })
  t.is(JSON.parse(whole.text).bytes, limit)
})

test('a handler that stops reading still answers, and the connection stays open', async (t) => {
  const { port } = await start(t)
  const socket = await open(t, port)
  for (const how of ['some', 'begun']) {
    socket.write(head(`large/${how}`, 900_000) + 'x'.repeat(900_000))
    t.true((await receive(socket, isWhole)).startsWith('HTTP/1.1 200 '), how)
  }
  socket.write(`${head('count/all', 3)}abc`)
  t.regex(await receive(socket, isWhole), /^HTTP\/1\.1 200 [^]*"bytes":3/)
})

test('the client sends only as fast as the handler reads', async (t) => {
  const { port, hold, started } = await start(t)
  const socket = await open(t, port)
  socket.write(head('large/later', large))
  socket.write(Buffer.alloc(large, 'x'))
  await started.promise
  t.is((await call(port, 'GET', '/healthz')).status, 200)
  t.true(socket.writableLength > 0, 'the client keeps the rest')
  hold.resolve()
  t.regex(await receive(socket, isWhole), new RegExp(`"bytes":${large}`))
})

test('reading ends if the client disconnects in the middle', async (t) => {
  const { port, answered, hasAnswered } = await start(t)
  const socket = await open(t, port)
  socket.write(head('count/all', 1000) + 'x'.repeat(10), () => socket.destroy())
  await hasAnswered(1)
  t.like(answered[0], { status: 499 })
})

test('streamed response: follows the pace of its client and ends if it disconnects', async (t) => {
  const { port, produced, failures } = await start(t)
  const socket = await open(t, port)
  socket.write(`GET /v1/stream/end HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${keyOf('api:read')}\r\n\r\n`)
  await receive(socket, (text) => text.length > 1_000_000)
  socket.pause()
  socket.destroy()
  await produced.ended.promise
  t.true(produced.bytes < 50_000_000, String(produced.bytes))
  t.deepEqual(failures, [])
})

test('streamed response: an interruption is logged and visible to the client', async (t) => {
  const { port, failures } = await start(t)
  const socket = await open(t, port)
  socket.write(`GET /v1/stream/break HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${keyOf('api:read')}\r\n\r\n`)
  const text = await receive(socket)
  t.true(text.startsWith('HTTP/1.1 200 '))
  t.false(text.endsWith('0\r\n\r\n'))
  t.false(text.includes('secret'))
  t.is((failures[0] as Error).message, 'the secret inside')
})

test('the OpenAPI document shows every media type of a streamed body', async (t) => {
  const { counted } = await start(t)
  t.true(isStreamed(counted.body))
  const document = buildOpenApi([counted], { core: undefined, baseUrl: 'https://x', version: '1' }) as {
    paths: Record<string, { post: { requestBody: unknown; responses: Record<string, unknown> } }>
  }
  const { requestBody, responses } = document.paths['/v1/count/{how}']?.post ?? {}
  t.deepEqual(requestBody, {
    required: true,
    content: {
      'text/csv': { schema: { type: 'string' } },
      'application/json': { schema: { type: 'array', items: { type: 'string' } }, example: ['a'] },
    },
  })
  t.true(['413', '415'].every((status) => status in (responses ?? {})))
})

test('if the stream of an answer fails at its start, the client gets an error envelope', async (t) => {
  const { port } = await start(t)
  for (const method of ['GET', 'HEAD'] as const) {
    const reply = await call(port, method, '/v1/stream/fail', { key: 'api:read' })
    t.is(reply.status, 500, method)
    if (method === 'GET') t.regex(errorOf(reply).message, /^The store is damaged, and records of this response are unreadable\./)
  }
})

test('processor time of a handler with a streamed body is charged to the caller', async (t) => {
  let now = 0
  using meter = new ThreadMeter(() => now)
  const fairness = new Fairness({ clock: new FakeClock(), meter })
  const works: Work[] = []
  const begun = Promise.withResolvers<void>()
  const begin: Fairness['begin'] = (facts) => {
    const work = fairness.begin(facts)
    works.push(work)
    return work
  }
  const counting = operation({
    ...{ method: 'POST', path: '/v1/count', operationId: 'count', summary: 'Count a body', tags: [], scope: 'api:send' },
    body: streamed({ 'text/csv': z.string() }),
    response: z.object({ bytes: z.int() }),
    examples: { body: 'a' },
    async handle({ body }) {
      begun.resolve()
      let bytes = 0
      for await (const chunk of body.bytes) bytes += chunk.length
      now += 50
      return { bytes }
    },
  })
  const { port } = await startDemo(t, { operations: [counting], fairness: { begin } })
  const socket = await open(t, port)
  socket.write(
    `POST /v1/count HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${keyOf('api:send')}\r\nContent-Type: text/csv\r\nContent-Length: 4\r\n\r\nab`,
  )
  await begun.promise
  socket.write('cd')
  t.true((await receive(socket, isWhole)).startsWith('HTTP/1.1 200 '))
  t.is(works[0]?.spent, 50)
})
