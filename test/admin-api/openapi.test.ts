import test from '#test'
import { Validator } from '@seriousme/openapi-schema-validator'
import * as z from 'zod'
import { refusals } from '#core/refusals.ts'
import { buildOpenApi, refusalCodes } from '../../admin-api/openapi/openapi.ts'
import { operation } from '../../admin-api/operation/operation.ts'
import { call, demoOperations, startDemo } from './http/demo-api.ts'

interface Described {
  readonly operationId: string
  readonly summary: string
  readonly security: readonly unknown[]
  readonly parameters?: readonly { name: string; in: string; required: boolean }[]
  readonly requestBody?: { required: boolean; content: Record<string, { example?: unknown }> }
  readonly responses: Record<
    string,
    { description: string; content?: Record<string, { schema: unknown; examples?: Record<string, unknown> }> }
  >
}

interface Document {
  readonly openapi: string
  readonly servers: readonly { url: string }[]
  readonly paths: Record<string, Record<string, Described>>
  readonly components: { schemas: Record<string, unknown> }
}

const service = { core: undefined, baseUrl: 'https://post.example.ch', version: '1.2.3' }
const documentOf = (...args: Parameters<typeof buildOpenApi>) => buildOpenApi(...args) as unknown as Document

test('AdminApi serves a valid OpenAPI 3.1 document without asking for a key', async (t) => {
  const { port } = await startDemo(t)
  const reply = await call(port, 'GET', '/openapi.json')
  t.is(reply.status, 200)
  const document = JSON.parse(reply.text) as Document
  t.is(document.openapi, '3.1.1')
  t.like(document.servers, { 0: { url: service.baseUrl } })
  const result = await new Validator().validate(JSON.parse(reply.text))
  t.true(result.valid, JSON.stringify(result.errors))
  t.deepEqual(Object.keys(document.paths).slice(-4), ['/healthz', '/readyz', '/metrics', '/openapi.json'])
})

test('buildOpenApi(): gives every operation a summary, a unique id and its errors', (t) => {
  const { paths } = documentOf(demoOperations, service)
  const described = Object.values(paths).flatMap((path) => Object.values(path))
  t.is(described.length, demoOperations.length)
  t.is(new Set(described.map(({ operationId }) => operationId)).size, described.length)
  t.true(described.every(({ summary }) => summary.length > 0))
  for (const source of demoOperations) {
    const { responses } = described.find(({ operationId }) => operationId === source.operationId) as Described
    for (const code of refusalCodes(source)) {
      t.truthy(responses[refusals[code].http]?.content?.['application/json']?.examples?.[code], `${source.operationId} ${code}`)
    }
  }
})

test('refusalCodes() adds what the shape of an operation brings with it', (t) => {
  const codes = Object.fromEntries(demoOperations.map((source) => [source.operationId, refusalCodes(source)]))
  t.deepEqual(codes['createNote'], [
    'conflict',
    'rate_limit_exceeded',
    'unauthorized',
    'insufficient_scope',
    'validation_failed',
    'request_too_large',
    'unsupported_media_type',
    'overloaded',
    'internal_error',
  ])
  t.deepEqual(codes['echoAddress'], [
    ...['validation_failed', 'request_too_large', 'unsupported_media_type'],
    ...['rate_limit_exceeded', 'overloaded', 'internal_error'],
  ])
})

test('buildOpenApi() describes parameters, bodies, statuses, security and examples', (t) => {
  const { paths } = documentOf(demoOperations, service)
  const list = paths['/v1/notes']?.['get']
  t.deepEqual(
    list?.parameters?.map(({ name, in: where, required }) => `${name} ${where} ${required}`),
    ['limit query false', 'cursor query false', 'project query false', 'status query false'],
  )
  t.deepEqual(list?.security, [{ bearer: ['api:read'] }])
  const create = paths['/v1/notes']?.['post']
  t.like(create?.requestBody, { required: true, content: { 'application/json': { example: { text: 'hello' } } } })
  t.deepEqual(create?.responses['201']?.content?.['application/json']?.schema, { $ref: '#/components/schemas/Note' })
  const echo = paths['/v1/echo-address']?.['post']
  t.deepEqual(echo?.security, [])
  t.is(echo?.requestBody?.required, false)
  t.is(echo?.responses['202']?.description, 'Will be done later.')
  t.is(paths['/v1/notes/{id}']?.['delete']?.responses['204']?.content, undefined)
  t.deepEqual(Object.keys(paths['/v1/notes/{id}/raw']?.['get']?.responses['200']?.content ?? {}), ['message/rfc822'])
})

test('buildOpenApi() hoists each named schema once and leaves answers open to new fields', (t) => {
  const document = documentOf(demoOperations, service)
  t.deepEqual(Object.keys(document.components.schemas), ['Error', 'Note'])
  t.deepEqual(document.components.schemas['Note'], {
    type: 'object',
    properties: { id: { type: 'string' }, text: { type: 'string' } },
    required: ['id', 'text'],
  })
  t.false(JSON.stringify(document).includes('$defs'))
})

test('buildOpenApi() refuses one schema id with two shapes', (t) => {
  const thing = z.strictObject({ size: z.number().default(1) }).meta({ id: 'Thing' })
  const facts = { path: '/', operationId: 'x', summary: 'x', tags: [], scope: 'none' } as const
  const both = operation({ ...facts, method: 'POST', body: thing, response: thing, handle: ({ body }) => body })
  t.throws(() => buildOpenApi([both], service), { message: /the schema id Thing has two different shapes/ })
})
