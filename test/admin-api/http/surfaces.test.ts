/** Ten actions of different shapes on two surfaces: REST, and a toy surface that calls them as an agent calls tools. */
import test from '#test'
import * as z from 'zod'
import { Refusal } from '#core/refusals.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import { action, type Action } from '../../../admin-api/actions/action.ts'
import { httpOperation, operationsOf } from '../../../admin-api/actions/http.ts'
import { invoke } from '../../../admin-api/actions/invoke.ts'
import { resource } from '../../../admin-api/actions/resource.ts'
import { Answer } from '../../../admin-api/operation/answer.ts'
import * as credentials from '../../../admin-api/credentials/credentials.ts'
import { buildOpenApi } from '../../../admin-api/openapi/openapi.ts'
import { operation } from '../../../admin-api/operation/operation.ts'
import { envelope } from '../../../admin-api/http/rendering.ts'
import { encoder } from '../../../admin-api/wire/fields/codec.ts'
import { timeInput, wireTime } from '../../../admin-api/wire/fields/time.ts'
import { call, keyOf, startDemo } from './demo-api.ts'
import { column } from '../../support/column.ts'

interface Lamp {
  readonly id: string
  readonly projectId: string
  readonly name: string
  readonly litAt: number | undefined
}

const at = Date.UTC(2026, 10, 22)
const lamps = new Map<string, Lamp>([['l_1', { id: 'l_1', projectId: 'p', name: 'Hall', litAt: at }]])
const found = (id: string): Lamp => {
  const lamp = lamps.get(id)
  if (!lamp) throw new Refusal('not_found', 'No lamp has this id.')
  return lamp
}

const lampShape = z.object({ id: z.string(), project_id: z.string(), name: z.string(), lit: z.boolean(), lit_at: wireTime.nullable() })
const lamp = encoder(lampShape.meta({ id: 'Lamp' })).from<Lamp>({ lit: ({ litAt }) => litAt !== undefined })
const seen = encoder(z.object({ seen_from: z.string(), principal_id: z.string(), origin: z.string().nullable() })).from<{
  seenFrom: string
  principalId: string
  origin: string | undefined
}>()

const lampActions = resource('/v1/lamps', { name: 'Lamp', tags: ['lamps'], feature: 'webhooks' })

const known = async (secret: string): Promise<Principal> => {
  if (secret !== 'known') throw new Refusal('unauthorized', 'This key is not known.')
  return { organizationId: 'o', projectId: 'p', bound: true, scopes: ['api:read'], credentialId: 'key_own' }
}

const looking = (id: string, ...taken: credentials.Credentials) =>
  action({
    id,
    summary: 'See who asks',
    tags: ['lamps'],
    scope: 'api:read',
    input: z.strictObject({}),
    output: seen,
    http: { method: 'GET', path: `/v1/${id}`, ...(taken.length > 0 && { credentials: taken }) },
    run: ({ principal, client }) => ({ seenFrom: client.address, principalId: principal.credentialId, origin: client.origin }),
  })

const actions: readonly Action[] = [
  lampActions.list({
    summary: 'List lamps',
    filter: { min_power: z.int().optional() },
    item: lamp,
    run: async (_context, { limit, minPower }) => ({
      rows: minPower === undefined ? [...lamps.values()].slice(0, limit) : [],
      nextCursor: undefined,
    }),
  }),
  lampActions.read({ summary: 'Get a lamp', output: lamp, run: (_context, { id }) => found(id) }),
  lampActions.create({
    summary: 'Create a lamp',
    errors: ['conflict'],
    input: z
      .strictObject({ name: z.string().min(1), lit_since: timeInput.optional(), project_id: z.string().optional() })
      .refine(({ name }) => name !== 'Sun', { path: ['name'], message: 'is there already' }),
    output: lamp,
    examples: { input: { name: 'Hall' } },
    run: ({ principal }, { name, litSince, projectId }) => ({
      id: 'l_2',
      name,
      projectId: projectId ?? principal.projectId,
      litAt: litSince,
    }),
  }),
  lampActions.change({
    summary: 'Update a lamp',
    input: z.strictObject({ name: z.string().optional() }).refine(({ name }) => name !== '', { path: ['name'], message: 'is empty' }),
    output: lamp,
    run: (_context, { id, name }) => ({ ...found(id), name: name ?? 'unchanged' }),
  }),
  lampActions.remove({ summary: 'Delete a lamp', run: async (_context, { id }) => void found(id) }),
  lampActions.act('switch-on', {
    summary: 'Switch a lamp on',
    scope: 'api:send',
    input: z.strictObject({ for_seconds: z.int().default(60), repeat_key: z.string().max(8).optional() }),
    output: encoder(z.object({ seconds: z.int(), repeated: z.boolean() })).from<{ seconds: number; repeated: boolean }>(),
    http: {
      emptyBody: { for_seconds: 30 },
      from: { repeat_key: { header: 'Repeat-Key', orBody: true } },
      otherResponses: { 202: 'It is on already.' },
      statusOf: ({ repeated }) => (repeated ? 202 : undefined),
      headers: { 'Lamp-Repeated': { description: 'The key was used before.', of: ({ repeated }) => (repeated ? 'true' : undefined) } },
    },
    run: (_context, { forSeconds, repeatKey }) => ({ seconds: forSeconds, repeated: repeatKey === 'again' }),
  }),
  looking('headed', credentials.header('X-Lamp-Key', known)),
  looking('basic', credentials.basic(known), credentials.query('key', known)),
  looking('session', credentials.session({ cookie: 'lamp', ownOrigin: 'https://post.example.ch', authenticate: known }), 'bearer'),
  action({
    id: 'vendorLamp',
    summary: 'The address of another product',
    tags: ['lamps'],
    scope: 'api:read',
    input: z.strictObject({ Name: z.string() }),
    output: encoder(z.object({ name: z.string() })).from<{ name: string }>(),
    http: {
      method: 'POST',
      path: '/lamps/send',
      credentials: [credentials.header('X-Lamp-Key', known)],
      errorRenderer: ({ message }) => new Answer(JSON.stringify({ ErrorCode: 10, Message: message }), 'application/json', { status: 422 }),
    },
    run: (_context, { Name: name }) => ({ name }),
  }),
]

const operations = operationsOf(actions)
const wire = { id: 'l_1', project_id: 'p', name: 'Hall', lit: true, lit_at: '2026-11-22T00:00:00.000Z' }

test('resource: list, get, create, update, delete and an action are REST operations', async (t) => {
  const { port } = await startDemo(t, { operations })
  const listed = await call(port, 'GET', '/v1/lamps?limit=1', { key: 'api:read' })
  t.deepEqual([listed.status, JSON.parse(listed.text)], [200, { data: [wire], next_cursor: null }])
  t.is((await call(port, 'GET', '/v1/lamps/l_1', { key: 'api:read' })).text, JSON.stringify(wire))
  const made = await call(port, 'POST', '/v1/lamps', { key: 'api:admin', body: { name: 'Door', lit_since: wire.lit_at } })
  t.deepEqual([made.status, JSON.parse(made.text)], [201, { ...wire, id: 'l_2', name: 'Door' }])
  const changed = await call(port, 'PATCH', '/v1/lamps/l_1', { key: 'api:admin', body: { name: 'Stairs' } })
  t.like(JSON.parse(changed.text), { id: 'l_1', name: 'Stairs' })
  const removed = await call(port, 'DELETE', '/v1/lamps/l_1', { key: 'api:admin' })
  t.deepEqual([removed.status, removed.text], [204, ''])
  t.is((await call(port, 'GET', '/v1/lamps/l_9', { key: 'api:read' })).status, 404)
})

test('invalid input is refused with the place and name of the field', async (t) => {
  const { port } = await startDemo(t, { operations })
  const fields = async (...args: Parameters<typeof call> extends [number, ...infer Rest] ? Rest : never) => {
    const reply = await call(port, ...args)
    return [
      reply.status,
      (JSON.parse(reply.text) as { error: { details: { fields: { path: string }[] } } }).error.details.fields.map(({ path }) => path),
    ]
  }
  t.deepEqual(await fields('GET', '/v1/lamps?limit=0&lit=1', { key: 'api:read' }), [400, ['lit', 'limit']])
  t.deepEqual(await fields('POST', '/v1/lamps', { key: 'api:admin', body: { name: 'Sun' } }), [400, ['name']])
  t.deepEqual(await fields('PATCH', '/v1/lamps/l_1', { key: 'api:admin', body: { name: '', id: 'l_2' } }), [400, ['id', 'name']])
  t.deepEqual(await fields('PATCH', '/v1/lamps/l_1', { key: 'api:admin', body: { name: '' } }), [400, ['name']])
  t.deepEqual(await fields('DELETE', '/v1/lamps/l_1?force=1', { key: 'api:admin' }), [400, ['force']])
})

test('fields can come from headers, bodies are optional, and answers have status and headers', async (t) => {
  const { port } = await startDemo(t, { operations })
  const path = '/v1/lamps/l_1/switch-on'
  const on = (body: unknown, headers = {}) => call(port, 'POST', path, { key: 'api:send', body, headers })
  const told = ({ status, text, headers }: Awaited<ReturnType<typeof call>>) => [status, JSON.parse(text).seconds, headers['lamp-repeated']]
  t.deepEqual(told(await on(undefined)), [200, 30, undefined])
  t.deepEqual(told(await on({})), [200, 60, undefined])
  t.deepEqual(told(await on({ repeat_key: 'again' })), [202, 60, 'true'])
  t.deepEqual(told(await on({ for_seconds: 5 }, { 'repeat-key': 'again' })), [202, 5, 'true'])
  const other = await on({ repeat_key: 'again' }, { 'repeat-key': 'once' })
  t.true(other.text.includes('differs from the header Repeat-Key; give one of them'), other.text)
  t.is((await on({}, { 'repeat-key': 'far too long' })).status, 400)
})

test('an action names its credentials: a header, the query, Basic, a session', async (t) => {
  const { port } = await startDemo(t, { operations })
  const status = async (path: string, headers = {}) => (await call(port, 'GET', path, { headers })).status
  const asked = JSON.parse(
    (await call(port, 'GET', '/v1/headed', { headers: { 'x-lamp-key': 'known', origin: 'https://a.example' } })).text,
  )
  t.deepEqual(asked, { seen_from: '127.0.0.1', principal_id: 'key_own', origin: 'https://a.example' })
  t.is(await status('/v1/headed', { 'x-lamp-key': 'wrong' }), 401)
  const bearer = { authorization: `Bearer ${keyOf('api:admin')}` }
  const missing = await call(port, 'GET', '/v1/headed', { headers: bearer })
  t.deepEqual([missing.status, missing.text.includes('in the header \\"X-Lamp-Key\\"')], [401, true])

  const basic = (secret: string) => ({ authorization: `Basic ${Buffer.from(`api:${secret}`).toString('base64')}` })
  t.is(await status('/v1/basic', basic('known')), 200)
  t.is(await status('/v1/basic', basic('wrong')), 401)
  t.is(await status('/v1/basic?key=known'), 200)
  t.is(await status('/v1/basic?key=known&other=1'), 400)
  const none = await call(port, 'GET', '/v1/basic')
  t.deepEqual([none.status, none.headers['www-authenticate']], [401, 'Basic realm="Postern", charset="UTF-8"'])

  t.is(await status('/v1/session', { cookie: 'a=b; lamp=known' }), 200)
  t.is(await status('/v1/session', { cookie: 'lamp=wrong' }), 401)
  t.is(await status('/v1/session', bearer), 200)
  t.is(await status('/v1/session'), 401)
})

test('credentials: a table has defaults; the first kind in a request is used', async (t) => {
  const taken = credentials.session({ cookie: 'lamp', ownOrigin: 'https://post.example.ch', authenticate: known })
  const plain = operation({
    method: 'GET',
    path: '/v1/plain',
    operationId: 'plain',
    summary: 'Identify the caller',
    tags: ['lamps'],
    scope: 'api:read',
    response: z.object({ principal_id: z.string() }),
    handle: ({ principal }) => ({ principal_id: principal.credentialId }),
  })
  const own = looking('own', credentials.header('X-Lamp-Key', known))
  const { port } = await startDemo(t, { operations: operationsOf([looking('looked'), plain, own], ['bearer', taken]) })
  const requester = async (path: string, headers = {}) => JSON.parse((await call(port, 'GET', path, { headers })).text).principal_id
  const cookie = { cookie: 'lamp=known' }
  for (const path of ['/v1/looked', '/v1/plain']) {
    t.is(await requester(path, cookie), 'key_own')
    t.is(await requester(path, { ...cookie, authorization: `Bearer ${keyOf('api:read')}` }), 'key_1')
    t.is((await call(port, 'GET', path)).status, 401)
  }
  t.is((await call(port, 'GET', '/v1/own', { headers: cookie })).status, 401)
})

test('an empty body gets the defaults of its schema, and a resource sets a scope for all', async (t) => {
  const moons = resource('/v1/moons', { name: 'Moon', tags: ['lamps'], scope: 'none' })
  const output = encoder(z.object({ phase: z.string(), for: z.string() })).from<{ phase: string; for: string }>()
  const turning = moons.act('turn', {
    summary: 'Turn a moon',
    input: z.strictObject({ phase: z.string().default('new') }),
    output,
    http: { emptyBody: {} },
    run: ({ principal }, { phase }) => ({ phase, for: String(principal) }),
  })
  const { port } = await startDemo(t, { operations: [httpOperation(turning)] })
  const turned = await call(port, 'POST', '/v1/moons/m_1/turn')
  t.deepEqual([turned.status, JSON.parse(turned.text)], [200, { phase: 'new', for: 'undefined' }])
})

test('session: cannot change data from another site', async (t) => {
  const taken = credentials.session({ cookie: 'lamp', ownOrigin: 'https://post.example.ch', authenticate: known })
  const write = action({
    id: 'write',
    summary: 'Write',
    tags: ['lamps'],
    scope: 'api:read',
    input: z.strictObject({}),
    http: { method: 'POST', path: '/v1/write', credentials: [taken] },
    run: () => {},
  })
  const { port } = await startDemo(t, { operations: [httpOperation(write)] })
  const status = async (headers: Record<string, string>) =>
    (await call(port, 'POST', '/v1/write', { headers: { cookie: 'lamp=known', ...headers } })).status
  t.is(await status({ 'sec-fetch-site': 'same-origin' }), 204)
  t.is(await status({ 'sec-fetch-site': 'cross-site' }), 403)
  t.is(await status({ origin: 'https://evil.example' }), 403)
  t.is(await status({}), 403)
})

test("routes of another product's API keep its error format", async (t) => {
  const { port } = await startDemo(t, { operations })
  const headers = { 'x-lamp-key': 'known' }
  t.is((await call(port, 'POST', '/lamps/send', { headers, body: { Name: 'Hall' } })).text, '{"name":"Hall"}')
  const refused = await call(port, 'POST', '/lamps/send', { body: { Name: 'Hall' } })
  t.deepEqual([refused.status, JSON.parse(refused.text).ErrorCode], [422, 10])
  const wrong = await call(port, 'POST', '/lamps/send', { headers, body: { name: 'Hall' } })
  t.deepEqual([wrong.status, JSON.parse(wrong.text).ErrorCode], [422, 10])
})

interface Described {
  readonly operationId: string
  readonly parameters: readonly { readonly name: string }[]
  readonly requestBody: {
    readonly required: boolean
    readonly content: Record<string, { readonly schema: { readonly properties: Record<string, unknown> } }>
  }
  readonly responses: Record<string, { readonly headers: Record<string, unknown> }>
  readonly security: unknown
}

test('the OpenAPI document shows places, optional bodies, headers and credentials', (t) => {
  const { paths, components } = buildOpenApi(operations, {
    core: undefined,
    baseUrl: 'https://post.example.ch',
    version: '1',
  }) as unknown as {
    paths: Record<string, Record<string, Described>>
    components: { securitySchemes: Record<string, unknown> }
  }
  const described = (method: string, path: string) => paths[path]?.[method] as Described
  const on = described('post', '/v1/lamps/{id}/switch-on')
  t.deepEqual([on.operationId, on.requestBody.required], ['switchLampOn', false])
  t.deepEqual(Object.keys(on.requestBody.content['application/json']?.schema.properties ?? {}), ['for_seconds', 'repeat_key'])
  for (const status of ['200', '202']) t.truthy(on.responses[status]?.headers['Lamp-Repeated'], status)
  const list = described('get', '/v1/lamps').parameters.map(({ name }) => name)
  t.deepEqual(list, ['limit', 'cursor', 'min_power'])
  t.deepEqual(described('get', '/v1/basic').security, [{ basic: [] }, { 'query key': [] }])
  t.deepEqual(described('get', '/v1/session').security, [{ session: [] }, { bearer: ['api:read'] }])
  t.deepEqual(components.securitySchemes['header X-Lamp-Key'], { type: 'apiKey', in: 'header', name: 'X-Lamp-Key' })
})

/** A binding of a toy surface: a name, hints, and names of arguments where they differ. */
interface Tool {
  readonly name: string
  readonly hints: { readonly readOnly: boolean }
  readonly arguments?: Readonly<Record<string, string>>
  readonly action: Action
}

const tools: readonly Tool[] = actions.map((each) => ({
  name: each.id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  hints: { readOnly: each.scope === 'api:read' },
  ...(each.id === 'getLamp' && { arguments: { lamp_id: 'id' } }),
  action: each,
}))

async function callTool(name: string, right: Principal['scopes'][number], given: Record<string, unknown>, flags = true): Promise<unknown> {
  const tool = tools.find((each) => each.name === name)
  if (!tool) throw new Error(`no tool ${name}`)
  const input = Object.fromEntries(Object.entries(given).map(([key, value]) => [tool.arguments?.[key] ?? key, value]))
  const context = {
    core: undefined,
    principal: { organizationId: 'o', projectId: 'p', bound: true, scopes: [right], credentialId: 'g' },
    signal: new AbortController().signal,
    client: { address: '192.0.2.1', origin: undefined, requestId: 'r' },
  }
  const requireFlag = async (): Promise<void> => {
    if (!flags) throw new Refusal('feature_disabled', 'It is switched off.')
  }
  try {
    return await invoke(tool.action, context, input, requireFlag)
  } catch (error) {
    if (error instanceof Refusal) return JSON.parse(envelope(error)).error
    throw error
  }
}

test('actions: another surface calls them by its own names, with its value types', async (t) => {
  t.deepEqual(column(tools, 'name'), [
    'list_lamps',
    'get_lamp',
    'create_lamp',
    'update_lamp',
    'delete_lamp',
    'switch_lamp_on',
    'headed',
    'basic',
    'session',
    'vendor_lamp',
  ])
  t.deepEqual(await callTool('list_lamps', 'api:read', { limit: 5 }), { data: [wire], next_cursor: null })
  t.deepEqual(await callTool('list_lamps', 'api:read', { min_power: 5 }), { data: [], next_cursor: null })
  t.deepEqual(await callTool('get_lamp', 'api:read', { lamp_id: 'l_1' }), wire)
  t.like(await callTool('create_lamp', 'api:admin', { name: 'Door' }), { name: 'Door', lit: false, lit_at: null })
  t.like(await callTool('update_lamp', 'api:admin', { id: 'l_1', name: 'Stairs' }), { name: 'Stairs' })
  t.is(await callTool('delete_lamp', 'api:admin', { id: 'l_1' }), undefined)
  t.deepEqual(await callTool('switch_lamp_on', 'api:send', { id: 'l_1', repeat_key: 'again' }), { seconds: 60, repeated: true })
  t.deepEqual(await callTool('headed', 'api:read', {}), { seen_from: '192.0.2.1', principal_id: 'g', origin: null })
})

test('another surface refuses like REST: scope, feature, input, core', async (t) => {
  t.like(await callTool('create_lamp', 'api:read', {}), { code: 'insufficient_scope' })
  t.like(await callTool('create_lamp', 'api:admin', {}, false), { code: 'feature_disabled' })
  t.like(await callTool('create_lamp', 'api:admin', { name: 'Sun' }), {
    code: 'validation_failed',
    details: { fields: { 0: { path: 'name' } } },
  })
  t.like(await callTool('list_lamps', 'api:read', { limit: '5' }), {
    code: 'validation_failed',
    details: { fields: { 0: { path: 'limit' } } },
  })
  t.like(await callTool('get_lamp', 'api:read', { lamp_id: 'l_9' }), { code: 'not_found', next_action: 'check_id' })
})

test('a surface can describe its tools and lists from the actions alone', (t) => {
  for (const { action: each } of tools) {
    const schema = z.toJSONSchema(each.input, { io: 'input', unrepresentable: 'any' })
    t.is(schema.type, 'object', each.id)
    t.is(schema.additionalProperties, false, each.id)
  }
  const list = actions.find(({ id }) => id === 'listLamps') as Action
  t.is(list.list?.item, lamp.schema)
  t.like(z.toJSONSchema(list.input, { io: 'input' }), { properties: { limit: { type: 'integer', default: 50 } } })
  t.deepEqual(
    column(
      actions.filter((each) => each.list),
      'id',
    ),
    ['listLamps'],
  )
})
