/** Fields of tool results: a resource has at least the fields that REST describes for it or its list entry. */
import test from '#test'
import { startMcp } from '../mcp-fixture.ts'

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}

/** Fields in the reading of a mail, where the sender's text is separate from the facts. */
const readingOf = ({ untrusted }: Readonly<Record<string, Schema>>): readonly string[] => Object.keys(untrusted?.properties ?? {})

/** Returns the field names of each object in a result, without labels. */
function objectsIn(schema: Schema): readonly ReadonlySet<string>[] {
  const { properties, items, anyOf = [], allOf = [], oneOf = [] } = schema
  const names = Object.keys(properties ?? {}).map((name) => name.replace(/^untrusted_/, ''))
  const inside = [...Object.values(properties ?? {}), ...(items ? [items] : []), ...anyOf, ...allOf, ...oneOf]
  return [...(properties ? [new Set([...names, ...readingOf(properties)])] : []), ...inside.flatMap(objectsIn)]
}

test('fields: a resource in a tool result has all fields of REST', async (t) => {
  const fixture = await startMcp(t)
  const document = await fixture.rest.must('GET', '/openapi.json')
  const { schemas } = document['components'] as { readonly schemas: Readonly<Record<string, Schema>> }
  const resources = Object.values(schemas).flatMap((schema) => objectsIn(schema).filter((fields) => fields.has('id')))
  const { tools } = await (await fixture.agent({ reachesOrganization: true })).client.listTools()
  const found = tools.flatMap(({ name, outputSchema }) =>
    objectsIn(outputSchema as Schema).flatMap((fields) => (fields.has('id') ? [{ name, fields }] : [])),
  )
  t.true(found.length > 30)
  const lacking = found.filter(({ fields }) => !resources.some((one) => one.isSubsetOf(fields)))
  t.deepEqual(
    lacking.map(({ name, fields }) => `${name}: ${[...fields].join(' ')}`),
    [],
  )
})

test('fields: tools show all recipients of a captured message, including Bcc', async (t) => {
  const fixture = await startMcp(t)
  const agent = await fixture.agent()
  const waiting = agent.must('virtual_inbox_message_wait', { id_or_address: '*', timeout_seconds: 20 })
  await fixture.waits(fixture.projectId, 1)
  const mail = { from: 'shop@example.ch', to: 'ada@example.ch', bcc: 'ben@example.ch', subject: 'Hello', text: 'to eve@example.ch' }
  const { trace_id: traceId } = await agent.must('email_send_test', mail)
  const { message } = (await waiting) as { message: Readonly<Record<string, unknown>> }
  const read = await agent.must('virtual_inbox_message_get', { id: message['id'] })
  const seen = { untrusted_intended_from: 'shop@example.ch', untrusted_intended_to: ['ada@example.ch', 'ben@example.ch'] }
  for (const one of [message, read]) {
    t.like(one, { trace_id: String(traceId), destination_id: null, ...seen })
    t.true((one['untrusted_addresses_seen'] as readonly string[]).includes('ada@example.ch'))
  }
})
