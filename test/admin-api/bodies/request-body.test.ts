import test from '#test'
import * as z from 'zod'
import { Work, type WorkFacts } from '#core/fairness/work.ts'
import { call, demoOperations, errorOf, isWhole, keyOf, ofTwo, open, receive, startDemo } from '../http/demo-api.ts'
import { operation, type Operation } from '../../../admin-api/operation/operation.ts'

const head = (key: string, more: string) =>
  `POST /v1/notes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n${more}\r\n`
const sender = keyOf('api:send')

test('readJsonBody() accepts JSON with a named charset, and refuses all other types', async (t) => {
  const { port } = await startDemo(t)
  const body = JSON.stringify({ text: 'hello' })
  const send = (type: string) => call(port, 'POST', '/v1/notes', { key: 'api:send', body, headers: { 'content-type': type } })
  for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"']) {
    t.is((await send(type)).status, 201, type)
  }
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1', 'application/jsonp']) {
    const reply = await send(type)
    t.is(reply.status, 415, type)
    t.like(errorOf(reply), {
      code: 'unsupported_media_type',
      message: 'Send the body as JSON in UTF-8, with the header "Content-Type: application/json".',
    })
  }
})

test('readJsonBody() refuses a compressed body', async (t) => {
  const { port } = await startDemo(t)
  const reply = await call(port, 'POST', '/v1/notes', { key: 'api:send', body: '{}', headers: { 'content-encoding': 'gzip' } })
  t.is(reply.status, 415)
  t.is(errorOf(reply).message, 'Send the body uncompressed, without Content-Encoding.')
})

test('readJsonBody() refuses by the declared length before the body arrives', async (t) => {
  const { port } = await startDemo(t)
  const socket = await open(t, port)
  socket.write(head(sender, 'Content-Length: 2001\r\n'))
  const text = await receive(socket, isWhole)
  t.true(text.startsWith('HTTP/1.1 413 '))
  t.like(errorOf({ text: text.slice(text.indexOf('\r\n\r\n')) }), {
    code: 'request_too_large',
    message: 'The body may have at most 2000 bytes; this one has 2001.',
    details: { max_bytes: 2000 },
  })
})

test('readJsonBody() counts a chunked body and refuses it at the limit', async (t) => {
  const { port } = await startDemo(t)
  const chunk = `3e8\r\n${' '.repeat(1000)}\r\n`
  const socket = await open(t, port)
  socket.write(head(sender, 'Transfer-Encoding: chunked\r\n') + chunk.repeat(3))
  t.true((await receive(socket, isWhole)).startsWith('HTTP/1.1 413 '))
  const whole = await open(t, port)
  whole.write(`${head(sender, 'Transfer-Encoding: chunked\r\n')}9\r\n{"text": \r\n5\r\n"hi"}\r\n0\r\n\r\n`)
  t.true((await receive(whole, isWhole)).startsWith('HTTP/1.1 201 '))
})

test('readJsonBody() assembles a large body from pieces of any size', async (t) => {
  const echo = operation({
    ...{ method: 'POST', path: '/v1/echo', operationId: 'echo', summary: 'Say it back', tags: ['notes'], scope: 'api:send' },
    maxBodyBytes: 2_000_000,
    body: z.strictObject({ text: z.string() }),
    response: z.object({ text: z.string() }),
    handle: ({ body }) => body,
  })
  const { port } = await startDemo(t, { operations: [echo] })
  const text = Array.from({ length: 200_000 }, (_, i) => `${i}ü`).join()
  const body = Buffer.from(JSON.stringify({ text }))
  t.true(JSON.parse((await call(port, 'POST', '/v1/echo', { key: 'api:send', body: body.toString() })).text).text === text)
  const pieces = Array.from({ length: Math.ceil(body.length / 9999) }, (_, i) => body.subarray(i * 9999, (i + 1) * 9999))
  for (const more of [`Content-Length: ${body.length}\r\n`, 'Transfer-Encoding: chunked\r\n']) {
    const socket = await open(t, port)
    socket.write(head(sender, more).replace('/v1/notes', '/v1/echo'))
    const chunked = more.startsWith('Transfer')
    for (const piece of pieces)
      socket.write(chunked ? Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]) : piece)
    if (chunked) socket.write('0\r\n\r\n')
    const answer = Buffer.from(await receive(socket, isWhole), 'latin1').toString()
    t.true(JSON.parse(answer.slice(answer.indexOf('{'))).text === text, more)
  }
})

test('discardRest() keeps the connection after a small refused body, cuts an endless one', async (t) => {
  const { port } = await startDemo(t)
  const kept = await open(t, port)
  kept.write(`${head(sender, 'Content-Length: 3000\r\n')}${' '.repeat(3000)}`)
  t.true((await receive(kept, isWhole)).startsWith('HTTP/1.1 413 '))
  kept.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
  t.true((await receive(kept, isWhole)).startsWith('HTTP/1.1 200 '))
  const endless = await open(t, port)
  const closed = new Promise((resolve) => endless.once('close', resolve))
  endless.write(head(sender, 'Content-Length: 100000000\r\n'))
  t.true((await receive(endless, isWhole)).startsWith('HTTP/1.1 413 '))
  const mebibyte = Buffer.alloc(1_048_576)
  const pour = () => {
    while (!endless.destroyed && endless.write(mebibyte));
  }
  endless.on('drain', pour)
  pour()
  await closed
  t.true(endless.bytesWritten < 50_000_000)
})

test('Exchange: authenticates before it reads the body', async (t) => {
  const { port } = await startDemo(t)
  const socket = await open(t, port)
  socket.write(head('svckey_unknown', 'Content-Length: 1000\r\n'))
  t.true((await receive(socket, isWhole)).startsWith('HTTP/1.1 401 '))
})

test('readJsonBody() sends 100 Continue only for an accepted request', async (t) => {
  const { port } = await startDemo(t)
  const refused = await open(t, port)
  refused.write(head('svckey_unknown', 'Content-Length: 15\r\nExpect: 100-continue\r\n'))
  const answer = await receive(refused)
  t.true(answer.startsWith('HTTP/1.1 401 '))
  t.regex(answer, /\r\nconnection: close\r\n/i)
  const welcome = await open(t, port)
  welcome.write(head(sender, 'Content-Length: 15\r\nExpect: 100-continue\r\n'))
  t.is(await receive(welcome, (text) => text.endsWith('\r\n\r\n')), 'HTTP/1.1 100 Continue\r\n\r\n')
  welcome.write('{"text":"later"')
  welcome.write('}')
  t.true((await receive(welcome, isWhole)).startsWith('HTTP/1.1 400 '))
})

test('readJsonBody() names the place of a fault, and refuses deep nesting and invalid UTF-8', async (t) => {
  const { port } = await startDemo(t)
  const cases: [string | Uint8Array, string][] = [
    ['{"text": "a",\n "to": }', 'body: is not JSON: line 2, column 8 (position 21): expected a value'],
    ['', 'body: is required'],
    [`{"extra":${'['.repeat(40)}${']'.repeat(40)}}`, 'body: nests deeper than 32 levels'],
    [Buffer.from([0x22, 0xff, 0x22]), 'body: must be UTF-8 text'],
    ['"just text"', 'body: expected an object, got text'],
  ]
  for (const [body, message] of cases) {
    const reply = await call(port, 'POST', '/v1/notes', { key: 'api:send', body })
    t.is(reply.status, 400)
    t.like(errorOf(reply), { code: 'validation_failed', message })
  }
})

test('check() refuses a field __proto__, and objects do not inherit from one', async (t) => {
  const { port } = await startDemo(t)
  const send = (body: string) => call(port, 'POST', '/v1/notes', { key: 'api:send', body })
  const top = await send('{"text":"x","__proto__":{"polluted":1}}')
  t.is(errorOf(top).message, '__proto__: is not a known field')
  t.is((await send('{"text":"x","extra":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}')).status, 201)
  t.is(({} as { polluted?: number }).polluted, undefined)
})

test('readJsonBody() returns undefined for a missing optional body', async (t) => {
  const { port } = await startDemo(t)
  t.is(JSON.parse((await call(port, 'POST', '/v1/echo-address')).text).again, null)
  t.is(JSON.parse((await call(port, 'POST', '/v1/echo-address', { body: { again: true } })).text).again, true)
})

test('BodyMemory refuses a body while the memory is full, and accepts it afterwards', async (t) => {
  const { port } = await startDemo(t, { limits: { maxSmallBodyMemoryBytes: 1500 } })
  const half = await open(t, port)
  const first = 'x'.repeat(700)
  half.write(head(sender, 'Content-Length: 1400\r\n') + first)
  const body = JSON.stringify({ text: 'x', extra: { pad: 'y'.repeat(1100) } })
  const refused = await call(port, 'POST', '/v1/notes', { key: 'api:send', body })
  t.is(refused.status, 503)
  t.like(errorOf(refused), { code: 'overloaded', message: 'Too many large requests at once; try again in a few seconds.' })
  half.write(first)
  t.true((await receive(half, isWhole)).startsWith('HTTP/1.1 400 '))
  t.is((await call(port, 'POST', '/v1/notes', { key: 'api:send', body })).status, 201)
})

test('BodyTurns: large bodies are processed one after the other, small ones immediately', async (t) => {
  const begun: string[] = []
  const inWork: (() => void)[] = []
  let large = Promise.withResolvers<void>()
  const handle: Operation['handle'] = async ({ body }) => {
    const { text } = body as { readonly text: string }
    begun.push(text.slice(0, 1))
    if (text.length > 1) {
      large.resolve()
      await new Promise<void>((resolve) => inWork.push(resolve))
    }
    return { id: 'n', text: '' }
  }
  const body = z.object({ text: z.string() })
  const notes = { ...demoOperations[0], maxBodyBytes: 1_048_576, body, handle } as Operation
  const { port } = await startDemo(t, { operations: [notes], limits: { maxBodyWorkBytes: 500_000 } })
  const send = (text: string) => call(port, 'POST', '/v1/notes', { key: 'api:send', body: { text } })
  const sent = ['a', 'b', 'c'].map((letter) => send(letter.repeat(300_000)))
  for (let rounds = 1; rounds <= 3; rounds++) {
    await large.promise
    large = Promise.withResolvers()
    t.is((await send('s')).status, 201)
    t.is(begun.length, 2 * rounds)
    for (const end of inWork.splice(0)) end()
  }
  for (const reply of sent) t.is((await reply).status, 201)
  t.is(begun.toSorted().join(''), 'abcsss')
})

const longNotes = [{ ...demoOperations[0], maxBodyBytes: 1_048_576 } as Operation]
const noteOf = (bytes: number): string => JSON.stringify({ text: 'x', extra: { pad: 'y'.repeat(bytes - 32) } })

test('BodyTurns: a slow body delays only bodies of its organization', async (t) => {
  const limits = { maxBodyMemoryBytes: 400_000 }
  const { port, answered } = await startDemo(t, { operations: longNotes, limits, authenticate: ofTwo })
  const slow = await open(t, port)
  const body = noteOf(150_000)
  slow.write(head(sender, `Content-Length: ${body.length}\r\n`) + body.slice(0, 100))
  const own = await open(t, port)
  own.write(head(sender, `Content-Length: ${body.length}\r\n`) + body)
  const other = await call(port, 'POST', '/v1/notes', { headers: { authorization: 'Bearer other' }, body: noteOf(80_000) })
  t.is(other.status, 201)
  t.deepEqual(
    answered.map(({ organizationId }) => organizationId),
    ['other'],
  )
  slow.write(body.slice(100))
  for (const socket of [slow, own]) t.true((await receive(socket, isWhole)).startsWith('HTTP/1.1 201 '))
})

test('BodyTurns: a disconnected client takes no turn; too many waiting are refused', async (t) => {
  const { port } = await startDemo(t, { operations: longNotes, limits: { maxBodyMemoryBytes: 100_000 } })
  const body = noteOf(90_000)
  const begun = head(sender, `Content-Length: ${body.length}\r\n`) + body.slice(0, 100)
  const first = await open(t, port)
  first.write(begun)
  const refused = Promise.withResolvers<string>()
  const waiting = await Promise.all(Array.from({ length: 129 }, () => open(t, port)))
  for (const socket of waiting) void receive(socket, isWhole).then(refused.resolve, () => {})
  for (const socket of waiting) socket.write(begun)
  const text = await refused.promise
  t.true(text.startsWith('HTTP/1.1 503 '), '129 waiting bodies are one too many')
  t.regex(text, /Too many large requests at once; try again in a few seconds\./)
  for (const socket of waiting) socket.destroy()
  first.write(body.slice(100))
  t.true((await receive(first, isWhole)).startsWith('HTTP/1.1 201 '))
  t.is((await call(port, 'POST', '/v1/notes', { key: 'api:send', body })).status, 201)
})

test('a large chunked body waits for its turn, and small bodies do not wait for it', async (t) => {
  const { port } = await startDemo(t, { operations: longNotes, limits: { maxSmallBodyMemoryBytes: 70_000 } })
  const whole = await open(t, port)
  const body = noteOf(200_000)
  whole.write(`${head(sender, 'Transfer-Encoding: chunked\r\n')}${body.length.toString(16)}\r\n${body}`)
  t.is((await call(port, 'POST', '/v1/notes', { key: 'api:send', body: { text: 'hello' } })).status, 201)
  whole.write('\r\n0\r\n\r\n')
  t.true((await receive(whole, isWhole)).startsWith('HTTP/1.1 201 '))
})

test("a body arrives at the pace of its caller's account, which pays for it", async (t) => {
  const pause = Promise.withResolvers<void>()
  const read = Promise.withResolvers<void>()
  const accounts = { resume() {}, spend() {}, turn: () => undefined, reserve() {}, ended() {} }
  const begin = (facts: WorkFacts): Work => {
    let pieces = 0
    const pace = () => {
      pieces++
      read.resolve()
      return pieces === 1 ? pause.promise : undefined
    }
    return new Work(facts, { ...accounts, pace, run: (_work, call) => call() })
  }
  const { port, answered } = await startDemo(t, { operations: longNotes, fairness: { begin } })
  const long = call(port, 'POST', '/v1/notes', { key: 'api:send', body: noteOf(900_000) })
  await read.promise
  t.is((await call(port, 'POST', '/v1/notes', { key: 'api:send', body: { text: 'hello' } })).status, 201)
  t.is(answered.length, 1)
  pause.resolve()
  t.is((await long).status, 201)
})

test('Exchange reports a client that disconnects during its body, and frees the memory', async (t) => {
  const gone = Promise.withResolvers<unknown>()
  const events = { answered: gone.resolve, failed: t.fail, connectionDropped() {} }
  const { port } = await startDemo(t, { events, operations: [demoOperations[0] as Operation], limits: { maxSmallBodyMemoryBytes: 1500 } })
  const socket = await open(t, port)
  socket.write(head(sender, 'Content-Length: 1400\r\n') + 'x'.repeat(1300), () => socket.destroy())
  t.like(await gone.promise, { operationId: 'createNote', status: 499, code: undefined })
  const body = JSON.stringify({ text: 'x', extra: { pad: 'y'.repeat(1100) } })
  t.is((await call(port, 'POST', '/v1/notes', { key: 'api:send', body })).status, 201)
})

/** Allocated bytes of buffers, used or not. */
const bufferBytes = (): number => process.memoryUsage().arrayBuffers

test('a declared length allocates no memory until bytes arrive', async (t) => {
  const large = demoOperations.map((one): Operation => (one.operationId === 'createNote' ? { ...one, maxBodyBytes: 64 * 1_048_576 } : one))
  const { port } = await startDemo(t, { operations: large })
  const before = bufferBytes()
  const sockets = await Promise.all(Array.from({ length: 100 }, () => open(t, port)))
  for (const socket of sockets) socket.write(`${head(sender, `Content-Length: ${64 * 1_048_576}\r\n`)}{`)
  t.is((await call(port, 'POST', '/v1/notes', { key: 'api:send', body: { text: 'hello' } })).status, 201)
  const grown = (bufferBytes() - before) / 1_048_576
  t.true(grown < 256, `${grown} MiB for 100 requests of 1 byte`)
})
