import test from '#test'
import * as z from 'zod'
import { noBody } from '../../../admin-api/operation/answer.ts'
import { operation, pathParameters } from '../../../admin-api/operation/operation.ts'
import { startDemo } from './demo-api.ts'

const facts = { method: 'POST', operationId: 'demo', summary: 'Demo', tags: [], scope: 'none', response: noBody } as const
const handle = () => {}

test('pathParameters() lists the names in braces', (t) => {
  t.deepEqual(pathParameters('/v1/a/{id}/b/{other_id}'), ['id', 'other_id'])
  t.deepEqual(pathParameters('/v1/a'), [])
})

test('operation() refuses params that differ from the path parameters', (t) => {
  t.throws(() => operation({ ...facts, path: '/v1/a/{id}', handle }), { message: /params must match/ })
  t.throws(() => operation({ ...facts, path: '/v1/a', params: z.strictObject({ id: z.string() }), handle }), {
    message: /params must match/,
  })
})

test('operation() refuses a query or body schema that drops unknown fields', (t) => {
  t.throws(() => operation({ ...facts, path: '/', body: z.object({}), handle }), {
    message: /body must define unknown fields/,
  })
  t.throws(() => operation({ ...facts, path: '/', query: z.object({}), handle }), { message: /query must define unknown fields/ })
  t.notThrows(() => operation({ ...facts, path: '/', body: z.looseObject({}), handle }))
})

test('operation() refuses a GET with a body', (t) => {
  t.throws(() => operation({ ...facts, method: 'GET', path: '/', body: z.string(), handle }), { message: /GET has no body/ })
})

test('operation() passes the types of its schemas to the handler', (t) => {
  const made = operation({
    ...facts,
    path: '/v1/{id}',
    scope: 'api:read',
    params: z.strictObject({ id: z.string() }),
    body: z.strictObject({ at: z.string().transform(Number) }),
    response: z.object({ sum: z.number() }),
    handle: ({ params, body, principal }) => ({ sum: params.id.length + body.at + principal.credentialId.length }),
  })
  t.is(made.path, '/v1/{id}')
})

test('AdminApi refuses a table with a duplicate operation id or route', async (t) => {
  const a = operation({ ...facts, path: '/v1/{id}', params: z.strictObject({ id: z.string() }), handle })
  const b = operation({ ...facts, path: '/v1/{key}', operationId: 'other', params: z.strictObject({ key: z.string() }), handle })
  await t.throwsAsync(startDemo(t, { operations: [a, a] }), { message: /demo .* is there twice/ })
  await t.throwsAsync(startDemo(t, { operations: [a, b] }), { message: /other .* is there twice/ })
})
