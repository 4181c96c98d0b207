/** Expensive requests are refused before execution, each with a clear error. */
import test from '#test'
import { getIntrospectionQuery } from 'graphql'
import { startFixture, type Fixture } from '../rest/fixture/rest-fixture.ts'
import { failuresOf, graphqlCaller, post } from './graphql-fixture.ts'

const many = (count: number, one: (index: number) => string): string => Array.from({ length: count }, (_, index) => one(index)).join(' ')
const nested = (levels: number, name = 'project'): string => (levels === 0 ? 'id' : `${name} { ${nested(levels - 1, name)} }`)

/** Requests with the limit that each of them exceeds. */
const abuses: readonly (readonly [string, string, string])[] = [
  ['deep fields', `{ destinations { nodes { ${nested(7)} } } }`, 'depth'],
  ['fields deep beyond reason', `{ ${nested(600)} }`, 'depth'],
  ['aliases', `{ ${many(16, (i) => `a${i}: me { name }`)} }`, 'aliases'],
  ['aliases within fragments', `{ me { ...A ...A } } fragment A on ProjectState { ${many(8, (i) => `a${i}: name`)} }`, 'aliases'],
  ['fields', `{ me { ${many(201, () => 'name')} } }`, 'selections'],
  [
    'fragments that double',
    `{ me { ...F0 } } ${many(30, (i) => `fragment F${i} on ProjectState { ${many(2, () => `...F${i + 1}`)} }`)} fragment F30 on ProjectState { name }`,
    'selections',
  ],
  ['a fragment that no operation uses', `{ me { name } } fragment F on ProjectState { ${many(201, () => 'name')} }`, 'selections'],
  ['inline fragments', `{ me { ${many(400, () => '...{').replaceAll(' ', '')} name ${'}'.repeat(400)} } }`, 'selections'],
  ['directives', `{ me { name ${many(21, () => '@include(if: true)')} } }`, 'directives'],
  ['unknown directives', `{ me { name ${many(500, (i) => `@a${i}`)} } }`, 'directives'],
  ['tokens', `{ me { ${many(2100, () => 'name')} } }`, 'tokens'],
  ['deep values', `{ previewEmailTemplate(id: "x", variables: ${'['.repeat(11)}${']'.repeat(11)}) { subject } }`, 'value_depth'],
  [
    'deep values beyond reason',
    `{ previewEmailTemplate(id: "x", variables: ${'['.repeat(990)}${']'.repeat(990)}) { subject } }`,
    'value_depth',
  ],
  ['full pages', `{ ${many(3, (i) => `a${i}: traces(first: 200) { nodes { traceId } }`)} }`, 'cost'],
  [
    'full pages in fragments',
    '{ ...A ...B ...C } fragment A on Query { a: traces(first: 200) { nodes { traceId } } } fragment B on Query { b: traces(first: 200) { nodes { traceId } } } fragment C on Query { c: traces(first: 200) { nodes { traceId } } }',
    'cost',
  ],
  ['mutations', `mutation { ${many(11, (i) => `a${i}: createProject(input: {name: "A"}) { id }`)} }`, 'cost'],
  [
    'secrets',
    'mutation { a: createSmtpCredential(input: {}) { id } b: createWebhookEndpoint(input: {name: "A", targetUrl: "https://a.example.ch/"}) { id } }',
    'secrets',
  ],
  [
    'secrets of webhooks of forms',
    'mutation { a: rotateFormWebhookSecret(id: "x") { revision } b: setFormNotifications(id: "x", input: {}) { revision } }',
    'secrets',
  ],
  ['a schema beyond reason', `{ __schema { types { ${nested(30, 'ofType').replace(' id ', ' name ')} } } }`, 'schema_depth'],
  ['types of types', '{ __schema { types { fields { type { fields { type { enumValues { name } } } } } } } }', 'schema_lists'],
  [
    'types of types in fragments',
    '{ __type(name: "Query") { ...A } } fragment A on __Type { fields { type { ofType { ...B } } } } fragment B on __Type { fields { args { type { inputFields { name } } } } }',
    'schema_lists',
  ],
  [
    'types of arguments',
    '{ __schema { directives { args { type { inputFields { type { inputFields { type { inputFields { name } } } } } } } } } }',
    'schema_lists',
  ],
  ['much of the schema', `{ ${many(401, () => '__schema { description }')} }`, 'schema_selections'],
]

test('a request above a limit is refused as a whole, with the limit', async (t) => {
  const fixture = await startFixture(t)
  const rows = await rowCount(fixture)
  for (const [what, query, limit] of abuses) {
    const { status, body } = await post(fixture, { query }, { accept: 'application/graphql-response+json' })
    const [error] = body.errors ?? []
    t.like(error?.extensions, { code: 'validation_failed', details: { limit } }, `${what}: ${error?.message ?? ''}`)
    t.deepEqual([status, body.data], [400, undefined], what)
  }
  t.is(await rowCount(fixture), rows, 'no field of it ran')
})

async function rowCount({ rest }: Fixture): Promise<number> {
  const [projects, credentials] = [await rest.must('GET', '/v1/projects'), await rest.must('GET', '/v1/smtp-credentials')]
  return (projects['data'] as unknown[]).length + (credentials['data'] as unknown[]).length
}

test('a request within the limits is answered', async (t) => {
  const { must } = graphqlCaller(await startFixture(t))
  await must(`{ ${many(15, (i) => `a${i}: me { name }`)} }`)
  await must('{ a: traces(first: 200) { nodes { traceId } } b: traces(first: 200) { nodes { traceId } } traces { nodes { traceId } } }')
  await must('query ($first: Int!) { traces(first: $first) { nodes { project { parentId } } } }', { first: 200 })
  await must(`mutation { ${many(10, (i) => `a${i}: createProject(input: {name: "A"}) { id }`)} }`)
  t.pass()
})

test('introspection: the longest response is at most a few times the usual length', async (t) => {
  const fixture = await startFixture(t)
  const sizeOf = async (query: string): Promise<number> => {
    const { status, body } = await post(fixture, { query })
    t.is(status, 200)
    t.is(body.errors, undefined)
    return JSON.stringify(body).length
  }
  const usual = await sizeOf(getIntrospectionQuery())
  const facts = 'kind name description specifiedByURL'
  const chain = `ofType { ${facts} ofType { ${facts} ofType { ${facts} } } }`
  const value = `name description defaultValue isDeprecated deprecationReason type { ${facts} ${chain} }`
  const lists = (inner: string): string => `${facts}
    fields(includeDeprecated: true) { name description isDeprecated deprecationReason args { ${value} } type { ${facts} ${inner} } }
    inputFields { ${value} } interfaces { ${facts} } possibleTypes { ${facts} } enumValues { name description }`
  // At present 0.48 MB is usual and 1.9 MB the longest, 3.9 times as much. Without the limit of lists, four nested lists make 5.7 MB.
  for (const inner of [lists(chain), `ofType { ${lists(chain)} }`]) {
    const longest = await sizeOf(`{ __schema { types { ${lists(inner)} } } }`)
    t.true(longest < 5 * usual, `${longest} octets, and ${usual} is usual`)
  }
})

test('the cost counts variables and their defaults', async (t) => {
  const { refused } = graphqlCaller(await startFixture(t))
  const pages =
    'a: traces(first: $n) { nodes { traceId } } b: traces(first: $n) { nodes { traceId } } c: traces(first: $n) { nodes { traceId } }'
  t.like((await refused(`query ($n: Int) { ${pages} }`, { n: 200 })).extensions, { details: { limit: 'cost', max: 500 } })
  t.like((await refused(`query ($n: Int = 200) { ${pages} }`)).extensions, { details: { limit: 'cost' } })
  t.like((await refused(`query ($n: Int) { ${pages} }`, { n: 1e9 })).extensions, { details: { limit: 'cost' } })
  t.like((await refused(`query ($n: Int) { ${pages} }`, { n: -1 })).extensions, { details: { fields: [{ path: 'first' }] } })
})

test('circular fragments, batches, subscriptions and bodies above the limit are refused', async (t) => {
  const fixture = await startFixture(t)
  const { client } = graphqlCaller(fixture)
  const codeOf = async (query: string): Promise<string> => (await failuresOf(client.request(query))).errors[0]?.message ?? ''
  t.regex(await codeOf('{ me { ...A } } fragment A on ProjectState { ...B } fragment B on ProjectState { ...A }'), /includes itself/)
  t.regex(await codeOf('{ me { ...A } } fragment A on ProjectState { project { id } ...A }'), /includes itself/)
  t.regex(await codeOf('subscription { me { name } }'), /subscription/)
  t.regex(await codeOf('{ __schema { types { a: name } } }'), /no aliases/)
  const batch = await post(fixture, [{ query: '{ me { name } }' }, { query: '{ me { name } }' }])
  t.deepEqual([batch.status, batch.body.errors?.[0]?.extensions.code], [400, 'validation_failed'])
  const large = await post(fixture, { query: `{ me { name } } #${'x'.repeat(70_000)}` })
  t.deepEqual([large.status, large.body.errors?.[0]?.extensions.code], [413, 'request_too_large'])
  const wrong = await post(fixture, 'query={me{name}}', { 'content-type': 'application/x-www-form-urlencoded' })
  t.deepEqual([wrong.status, wrong.body.errors?.[0]?.extensions.code], [415, 'unsupported_media_type'])
})
