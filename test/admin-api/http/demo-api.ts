/** A listening HTTP side with a few demo operations, and two clients: an HTTP client and a client for raw bytes. */
import { EventEmitter, once } from 'node:events'
import { request, type IncomingHttpHeaders } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { ExecutionContext } from 'ava'
import * as z from 'zod'
import { Refusal } from '#core/refusals.ts'
import type { Scope, Principal } from '#core/access/principal/principal.ts'
import { httpOperation } from '../../../admin-api/actions/http.ts'
import { resource } from '../../../admin-api/actions/resource.ts'
import { answer, media, noBody, raw } from '../../../admin-api/operation/answer.ts'
import { bearerAuthentication } from '../../../admin-api/credentials/authentication.ts'
import type { Answered } from '../../../admin-api/http/api-events.ts'
import { operation, type Operation } from '../../../admin-api/operation/operation.ts'
import { AdminApi, type AdminApiOptions } from '../../../admin-api/http/http-server.ts'
import { encoder } from '../../../admin-api/wire/fields/codec.ts'
import { project } from '../../../admin-api/wire/fields/paging.ts'
import { waiting } from '../../support/waits.ts'

export const keyOf = (scope: Scope): string => `svckey_${scope.replace(':', '_')}`

const note = z.object({ id: z.string(), text: z.string() }).meta({ id: 'Note' })
const address = z.string().max(320)

export const demoOperations: readonly Operation[] = [
  operation({
    method: 'POST',
    path: '/v1/notes',
    operationId: 'createNote',
    summary: 'Write a note',
    tags: ['notes'],
    scope: 'api:send',
    status: 201,
    errors: ['conflict', 'rate_limit_exceeded'],
    maxBodyBytes: 2000,
    body: z.strictObject({
      text: z.string().min(1).max(100),
      to: z.union([address, z.array(address).min(1).max(3, 'at most 3 recipients')]).optional(),
      reply_to: address.optional(),
      extra: z.record(z.string(), z.unknown()).optional(),
    }),
    response: note,
    examples: { body: { text: 'hello' }, response: { id: 'n_1', text: 'hello' } },
    handle({ body }) {
      if (body.text === 'refuse') throw new Refusal('rate_limit_exceeded', 'Three notes an hour.', { retryAfterSeconds: 7.2 })
      if (body.text === 'break') throw new Error('the secret inside')
      return { id: 'n_1', text: body.text, ...(body.text === 'lie' ? { id: 5 as never } : {}) }
    },
  }),
  httpOperation(
    resource('/v1/notes', { name: 'Note', tags: ['notes'] }).list({
      summary: 'List the notes',
      filter: { project, status: z.enum(['open', 'done']).optional() },
      item: encoder(note).from<{ id: string; text: string }>(),
      run: async (_context, { limit, cursor }) => ({ rows: [{ id: `limit ${limit}`, text: cursor ?? '' }], nextCursor: undefined }),
    }),
  ),
  operation({
    method: 'GET',
    path: '/v1/notes/{id}',
    operationId: 'readNote',
    summary: 'Read a note',
    tags: ['notes'],
    scope: 'api:read',
    errors: ['not_found'],
    params: z.strictObject({ id: z.string().max(20) }),
    response: note,
    handle: ({ params, principal }) => ({ id: params.id, text: principal.credentialId }),
  }),
  operation({
    method: 'DELETE',
    path: '/v1/notes/{id}',
    operationId: 'deleteNote',
    summary: 'Delete a note',
    tags: ['notes'],
    scope: 'api:admin',
    status: 204,
    params: z.strictObject({ id: z.string().max(20) }),
    response: noBody,
    handle: () => {},
  }),
  operation({
    method: 'GET',
    path: '/v1/notes/{id}/raw',
    operationId: 'readRawNote',
    summary: 'Read a note as it came',
    tags: ['notes'],
    scope: 'api:read',
    params: z.strictObject({ id: z.string().max(20) }),
    response: media('message/rfc822'),
    handle: ({ params }) =>
      raw(params.id === 'stream' ? ReadableStream.from([Buffer.from('Subject: '), Buffer.from('x\r\n')]) : 'Subject: x\r\n', {
        contentType: 'message/rfc822',
        headers: { 'content-disposition': 'attachment', 'cache-control': 'private' },
      }),
  }),
  operation({
    method: 'POST',
    path: '/v1/echo-address',
    operationId: 'echoAddress',
    summary: "View the service's own data",
    tags: ['notes'],
    scope: 'none',
    body: z.strictObject({ again: z.boolean() }).optional(),
    otherResponses: { 202: 'Will be done later.' },
    response: z.object({ address: z.string(), again: z.boolean().nullable() }),
    handle: ({ remoteAddress, body }) => answer({ address: remoteAddress, again: body?.again ?? null }, { status: 202 }),
  }),
]

export interface DemoApi {
  readonly api: AdminApi
  readonly port: number
  readonly answered: Answered[]
  /** Resolves when the server has answered the given number of requests. */
  hasAnswered(count: number): Promise<void>
  readonly failures: unknown[]
}

/** Starts the demo API on a free port; it closes with the test. */
export async function startDemo(t: ExecutionContext, options: Partial<AdminApiOptions<unknown>> = {}): Promise<DemoApi> {
  const answered: Answered[] = []
  const answers = new EventEmitter()
  const failures: unknown[] = []
  const api = new AdminApi<unknown>({
    core: undefined,
    listen: { host: '127.0.0.1', port: 0 },
    baseUrl: 'https://post.example.ch',
    version: '1.2.3',
    operations: demoOperations,
    authenticate: bearerAuthentication(verifyDemoKey),
    requireFlag: async () => {},
    admission: { check() {} },
    events: {
      answered: (line) => (answered.push(line), answers.emit('answered')),
      failed: (error) => failures.push(error),
      connectionDropped() {},
    },
    health: { ready: () => [] },
    metrics: { contentType: 'text/plain; version=0.0.4', render: async () => 'up 1\n' },
    checkAnswers: true,
    ...options,
  })
  const { port } = await api.listen()
  t.teardown(() => api.close(0))
  const hasAnswered = async (count: number): Promise<void> => {
    while (answered.length < count) await once(answers, 'answered')
  }
  return { api, port, answered, failures, hasAnswered: (count) => waiting(`${count} answers of the demo`, hasAnswered(count)) }
}

async function verifyDemoKey(key: string): Promise<Principal> {
  const right = (['api:read', 'api:send', 'api:admin'] as const).find((candidate) => keyOf(candidate) === key)
  if (!right) throw new Refusal('unauthorized', 'This API key is not known.')
  return { organizationId: 'o', projectId: 'p', bound: false, scopes: [right], credentialId: 'key_1' }
}

/** The usual keys belong to one organization, and all other keys to another. */
export const ofTwo = bearerAuthentication(async (key) => {
  const isUsual = key.includes('api')
  return { organizationId: isUsual ? 'o' : 'other', projectId: 'p', bound: false, scopes: ['api:send'], credentialId: key }
})

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

interface Call {
  readonly key?: Scope
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** Makes one request on a separate connection; sends a body that is not text as JSON. */
export async function call(port: number, method: string, path: string, { key, headers = {}, body }: Call = {}): Promise<Reply> {
  const all: Record<string, string> = { ...(key ? { authorization: `Bearer ${keyOf(key)}` } : {}) }
  if (body !== undefined) all['content-type'] = 'application/json'
  const req = request({ host: '127.0.0.1', port, method, path, agent: false, headers: { ...all, ...headers } })
  req.end(body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body))
  const [res] = await once(req, 'response')
  let text = ''
  for await (const chunk of res.setEncoding('utf8')) text += chunk
  return { status: res.statusCode, headers: res.headers, text }
}

/** Returns the error envelope of a refusal. */
export function errorOf(reply: { readonly text: string }): {
  code: string
  message: string
  next_action: string
  details?: Record<string, unknown>
} {
  return JSON.parse(reply.text).error
}

/** A connection that sends exactly the given bytes. */
export async function open(t: ExecutionContext, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  socket.on('error', () => {})
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

/** Returns everything received until `enough` returns true or the other side closes. */
export async function receive(socket: Socket, enough: (text: string) => boolean = () => false): Promise<string> {
  let text = ''
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += chunk
    if (enough(text)) break
  }
  return text
}

/** Returns whether a complete answer with a Content-Length has arrived. */
export function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  return end >= 0 && text.length >= end + 4 + Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
}

/** An operation that waits for its signal to abort, and reports its begin and its end. */
export function waitingOperation(facts: Partial<Operation> = {}) {
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<unknown>()
  const wait = operation({
    method: 'POST',
    path: '/v1/wait',
    operationId: 'wait',
    summary: 'Wait',
    tags: ['notes'],
    scope: 'api:read',
    response: z.object({ found: z.boolean() }),
    async handle({ signal }) {
      begun.resolve()
      await once(signal, 'abort')
      ended.resolve(signal.reason)
      throw signal.reason
    },
  })
  return { operation: { ...wait, ...facts }, begun: begun.promise, ended: ended.promise }
}

/** The operation that writes notes, delayed until it is released. */
export function heldNotes() {
  const [notes] = demoOperations as readonly [Operation]
  const begun = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  let runs = 0
  const handle: Operation['handle'] = async (input) => {
    runs++
    begun.resolve()
    await released.promise
    return notes.handle(input)
  }
  return { operation: { ...notes, handle }, begun: begun.promise, release: released.resolve, runs: () => runs }
}
