/** Wrong types in the parameters of every method of the protocol get clear errors without texts of the validator. */
import { specTypeSchemas } from '@modelcontextprotocol/server'
import test from '#test'
import { mcpResource } from '../oauth/oauth-fixture.ts'
import { lastMessage, startMcp, type McpFixture } from './mcp-fixture.ts'

interface Schema {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
}

interface Message {
  readonly method: string
  readonly params?: unknown
}

interface Reply {
  readonly id: number
  readonly error?: { readonly code: number; readonly message: string }
}

const { validate, jsonSchema } = specTypeSchemas.ClientRequest['~standard'] as unknown as {
  readonly validate: (value: unknown) => { readonly issues?: readonly unknown[] }
  readonly jsonSchema: { readonly input: (options: { readonly target: string }) => Schema }
}

const alternatives = ({ anyOf, oneOf, allOf }: Schema): readonly Schema[] => [anyOf, oneOf, allOf].flatMap((some) => some ?? [])

/** Returns a valid value. */
function fitting(schema: Schema): unknown {
  if (schema.const !== undefined) return schema.const
  const [first] = alternatives(schema)
  if (first) return fitting(first)
  const required = (schema.required ?? []).map((name) => [name, fitting(schema.properties?.[name] ?? {})])
  const values: Readonly<Record<string, unknown>> = { string: 'x', number: 1, integer: 1, boolean: true, array: [] }
  return schema.enum?.[0] ?? values[schema.type ?? ''] ?? Object.fromEntries(required)
}

const wrongValues = [undefined, 5, 'x', true, null, [], [7], { x: 7 }]

/** Yields the value with one wrong part, for every place in the schema. */
function* wrongIn(schema: Schema, value: unknown): Generator<unknown> {
  yield* wrongValues
  for (const one of alternatives(schema)) yield* wrongIn(one, fitting(one))
  for (const [name, inner] of Object.entries(schema.properties ?? {}))
    for (const wrong of wrongIn(inner, fitting(inner))) yield { ...Object(value), [name]: wrong }
  if (schema.items) for (const wrong of wrongIn(schema.items, fitting(schema.items))) yield [wrong]
}

const methods = alternatives(jsonSchema.input({ target: 'draft-2020-12' })).map((schema) => ({
  method: String(schema.properties?.['method']?.const),
  params: schema.properties?.['params'] ?? {},
}))

/** Requests that the package's schemas refuse. */
const malformed: readonly Message[] = methods.flatMap(({ method, params }) =>
  [...wrongIn(params, fitting(params))]
    .map((wrong) => JSON.parse(JSON.stringify({ method, params: wrong })) as Message)
    .filter((message) => validate(message).issues),
)

async function ask(fixture: McpFixture, token: string, body: unknown): Promise<readonly Reply[]> {
  const response = await fixture.fetch(mcpResource, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: Array.isArray(body) ? 'application/json' : 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify(body),
  })
  return [lastMessage(await response.text()) as Reply | readonly Reply[]].flat()
}

const rawText = /[[{]\s*[{"]|"(code|path|expected)"|invalid_(type|union|value)|Invalid input/

test('parameters: each wrong type gets -32602 with a sentence, also in a batch', async (t) => {
  const fixture = await startMcp(t)
  const token = await fixture.tokenOf()
  t.true(malformed.length > 400, `${malformed.length}`)
  t.true(['initialize', 'tools/list', 'tools/call', 'completion/complete'].every((name) => methods.some(({ method }) => method === name)))
  const texts = new Set<string>()
  const judge = (message: Message | undefined, { error }: Reply, how: string): void => {
    const shown = `${how} ${JSON.stringify(message)}: ${error?.message}`
    t.true(error?.code === -32_602 || error?.code === -32_601, shown)
    t.notRegex(error?.message ?? '', rawText, shown)
    texts.add(error?.message ?? '')
  }
  const single = await Promise.all(
    [...Map.groupBy(malformed, ({ method }) => method).values()].map(async (some) => {
      for (const message of some) {
        const [reply = { id: 0 }] = await ask(fixture, token, { jsonrpc: '2.0', id: 1, ...message })
        judge(message, reply, 'alone')
      }
    }),
  )
  t.true(single.length > 5)
  const inBatches = malformed.filter(({ method }) => method !== 'initialize')
  for (let from = 0; from < inBatches.length; from += 50) {
    const some = inBatches.slice(from, from + 50)
    const replies = await ask(
      fixture,
      token,
      some.map((message, id) => ({ jsonrpc: '2.0', id, ...message })),
    )
    t.is(replies.length, some.length)
    for (const reply of replies) judge(some[reply.id], reply, 'in a batch')
  }
  t.true(texts.has('The parameters of tools/list are malformed: params.cursor: expected text, got a number.'))
  t.deepEqual(fixture.failures, [])
})
