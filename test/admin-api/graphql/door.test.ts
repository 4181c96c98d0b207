/** The GraphQL endpoint: methods and media types, sessions of the dashboard, the log and the metrics, and internal errors. */
import test from '#test'
import { adminKey, startFixture, type Fixture } from '../rest/fixture/rest-fixture.ts'
import { PageClient } from '../pages/page-client.ts'
import { startPageServer, type PageServer } from '../pages/page-server.ts'
import { graphqlCaller, post } from './graphql-fixture.ts'
import { foreignText } from '../../support/foreign-text.ts'

const get = (fixture: Pick<Fixture, 'address'>, search: Readonly<Record<string, string>>, headers: Record<string, string> = {}) =>
  fetch(`http://${fixture.address}/v1/graphql?${new URLSearchParams(search).toString()}`, {
    headers: { authorization: `Bearer ${adminKey}`, ...headers },
  })

test('GET runs queries only, with variables in the query string', async (t) => {
  const fixture = await startFixture(t)
  const answer = await get(fixture, {
    query: 'query Me($with: Boolean!) { me { name @include(if: $with) } }',
    operationName: 'Me',
    variables: '{"with": true}',
  })
  t.deepEqual([answer.status, await answer.json()], [200, { data: { me: { name: 'Default' } } }])
  const change = await get(fixture, { query: 'mutation { createProject(input: { name: "A" }) { id } }' })
  t.deepEqual([change.status, change.headers.get('allow')], [405, 'POST'])
  t.like(await change.json(), { errors: [{ extensions: { code: 'method_not_allowed' } }] })
  const both = 'query A { me { name } } mutation B { createProject(input: { name: "A" }) { id } }'
  t.is((await get(fixture, { query: both, operationName: 'A' })).status, 200)
  t.is((await get(fixture, { query: both, operationName: 'B' })).status, 405)
  for (const search of [
    {},
    { query: '' },
    { query: '{ me { name } }', variables: '[1]' },
    { query: '{ me { name } }', variables: '{' },
    { query: '{ me { name } }', variables: `{"a": ${'['.repeat(40)}${']'.repeat(40)}}` },
    { q: '1' },
  ] as const) {
    const wrong = await get(fixture, search)
    t.is(wrong.status, 400, JSON.stringify(search))
    t.like(await wrong.json(), { errors: [{ extensions: { code: 'validation_failed' } }] })
  }
  const { data } = await fixture.rest.must('GET', '/v1/projects')
  t.is((data as unknown[]).length, 1)
})

test('the client selects the media type; the default is JSON', async (t) => {
  const fixture = await startFixture(t)
  const typeOf = async (query: string, accept?: string) => {
    const { status, headers } = await post(fixture, { query }, accept === undefined ? {} : { accept })
    return [status, headers.get('content-type')]
  }
  t.deepEqual(await typeOf('{ me { name } }'), [200, 'application/json; charset=utf-8'])
  t.deepEqual(await typeOf('{ nothing }'), [200, 'application/json; charset=utf-8'])
  const accept = 'application/graphql-response+json, application/json;q=0.9'
  t.deepEqual(await typeOf('{ me { name } }', accept), [200, 'application/graphql-response+json; charset=utf-8'])
  t.deepEqual(await typeOf('{ nothing }', accept), [400, 'application/graphql-response+json; charset=utf-8'])
})

test('other methods get 405 with Allow, and several operations need operationName', async (t) => {
  const fixture = await startFixture(t)
  const put = await fixture.rest.call('PUT', '/v1/graphql', {})
  t.deepEqual([put.status, put.headers['allow']], [405, 'POST, GET, HEAD'])
  const { refused } = graphqlCaller(fixture)
  t.regex((await refused('query A { me { name } } query B { me { planTier } }')).message, /operationName/)
  for (const body of [{}, { query: 1 }, { query: '{ me { name } }', variables: [] }, { query: '{ me { name } }', operationName: 1 }])
    t.is((await post(fixture, body)).status, 400, JSON.stringify(body))
  t.is((await post(fixture, { query: '{ me { name } }', operationName: null, variables: null, extensions: { a: 1 }, id: 'x' })).status, 200)
})

interface Answer {
  readonly data?: Readonly<Record<string, unknown>> | null
  readonly errors?: readonly { readonly extensions: { readonly code: string; readonly next_action: string } }[]
  readonly error?: { readonly code: string }
}

async function asPage(
  server: PageServer,
  client: PageClient,
  query: string,
  headers: Record<string, string> = {},
): Promise<Answer & { status: number }> {
  const answer = await fetch(`${server.url}/v1/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie: client.cookie, 'sec-fetch-site': 'same-origin', ...headers },
    body: JSON.stringify({ query }),
  })
  return { ...((await answer.json()) as Answer), status: answer.status }
}

test('a session authenticates GraphQL requests only from pages of the service', async (t) => {
  const server = await startPageServer(t)
  const olga = new PageClient(server)
  await olga.signIn('olga@example.ch')
  t.like(await asPage(server, olga, '{ me { name } }'), { status: 200, data: { me: { name: 'Default' } } })
  for (const site of ['cross-site', 'same-site', 'none']) {
    const refused = await asPage(server, olga, '{ me { name } }', { 'sec-fetch-site': site })
    t.like(refused, { status: 403, error: { code: 'insufficient_scope' } }, site)
  }
  t.is((await asPage(server, new PageClient(server), '{ me { name } }')).status, 401)
})

test('mutations that create keys need a recent sign-in; others do not', async (t) => {
  const server = await startPageServer(t)
  const olga = new PageClient(server)
  await olga.signIn('olga@example.ch')
  const making = 'mutation { createSmtpCredential(input: {}) { password } }'
  t.is((await asPage(server, olga, making)).errors, undefined)
  server.clock.advance(3_600_000)
  t.like((await asPage(server, olga, making)).errors, [{ extensions: { code: 'unauthorized', next_action: 'sign_in_again' } }])
  t.is((await asPage(server, olga, 'mutation { createProject(input: { name: "A" }) { id } }')).errors, undefined)
})

test('metrics count each field, and the log names refused fields without arguments', async (t) => {
  const fixture = await startFixture(t)
  const { must, refused } = graphqlCaller(fixture)
  await must('{ me { name } a: me { planTier } }')
  await refused('{ destination(id: "dst_secret") { id } }')
  await refused('{ nothing }')
  const text = (await fixture.rest.call('GET', '/metrics')).bytes.toString()
  t.true(text.includes('postern_graphql_fields_total{field="me",outcome="ok"} 2'))
  t.true(text.includes('postern_graphql_fields_total{field="destination",outcome="not_found"} 1'))
  t.true(text.includes('postern_graphql_fields_total{field="document",outcome="validation_failed"} 1'))
  t.true(text.includes('postern_http_requests_total{route="callGraphql",status="200"} 2'))
})

test('an internal error is reported to the operator and hidden from the client', async (t) => {
  const disk = foreignText(t)
  const fixture = await startFixture(t)
  const { must, refused } = graphqlCaller(fixture)
  await must('{ me { name } }')
  fixture.kv.onLook = () => {
    throw new Error(`the disk ${disk} is gone`)
  }
  const failure = await refused('{ traces { nodes { traceId } } }')
  fixture.kv.onLook = undefined
  t.like(failure, { path: ['traces'], extensions: { code: 'internal_error', status: 500 } })
  t.regex(failure.message, /^The request failed inside the service; report it with its id req_/)
  t.false(JSON.stringify(failure).includes(disk))
  t.notRegex(JSON.stringify(failure), /"stack"|\.ts/)
  t.regex(JSON.stringify(fixture.failures.splice(0)), /"operation":"traces"/)
})

test('a query above the time limit ends with 503 and retry_later', async (t) => {
  let skippedMs = 0
  const fixture = await startFixture(t, {
    server: { monotonic: () => skippedMs, limits: { deadlineCheckMs: 5, frozenMsMin: Infinity } },
  })
  await graphqlCaller(fixture).must('{ me { name } }')
  const { traces } = fixture.daemon.part('rest')
  const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<never>()]
  traces.list = () => {
    asked.resolve()
    return held.promise
  }
  const answer = post(fixture, { query: '{ traces { nodes { traceId } } }' })
  await asked.promise
  skippedMs = 31_000
  const { status, headers, body } = await answer
  t.deepEqual([status, headers.get('retry-after')], [503, '2'])
  t.like(body.errors, [{ extensions: { code: 'overloaded', next_action: 'retry_later', status: 503 } }])
})
