/** Lists with filters and pages, single resources, and linked resources. */
import test from '#test'
import { addDestination, startFixture, type Fixture } from '../rest/fixture/rest-fixture.ts'
import { graphqlCaller } from './graphql-fixture.ts'

interface Page<T = { readonly id: string }> {
  readonly nodes: readonly T[]
  readonly pageInfo: { readonly endCursor: string | null; readonly hasNextPage: boolean }
}

const projectOf = async ({ rest }: Fixture, name: string): Promise<string> =>
  String((await rest.must('POST', '/v1/projects', { name }))['id'])

const mail = { from: 'shop@example.ch', text: 'Thank you.' }

test('pages follow each other without gaps and equal the pages of REST', async (t) => {
  const fixture = await startFixture(t)
  const { must } = graphqlCaller(fixture)
  for (let i = 0; i < 7; i++)
    await fixture.rest.must('POST', '/v1/templates', { slug: `t${i}`, name: `T${i}`, subject_tmpl: 'x', text_tmpl: 'x' })
  const seen: string[] = []
  const query =
    'query ($after: String) { emailTemplates(first: 3, after: $after) { nodes { id slug currentVersion } pageInfo { endCursor hasNextPage } } }'
  const sizes: number[] = []
  for (let after: string | null = null; ;) {
    const { emailTemplates }: { emailTemplates: Page } = await must(query, { after })
    seen.push(...emailTemplates.nodes.map(({ id }) => id))
    sizes.push(emailTemplates.nodes.length)
    t.is(emailTemplates.pageInfo.hasNextPage, emailTemplates.pageInfo.endCursor !== null)
    after = emailTemplates.pageInfo.endCursor
    if (after === null) break
  }
  const { data } = await fixture.rest.must('GET', '/v1/templates')
  t.deepEqual(
    seen,
    (data as { id: string }[]).map(({ id }) => id),
  )
  t.deepEqual(sizes, [3, 3, 1])
})

test('projectId selects one project; the default is all that the key reaches', async (t) => {
  const fixture = await startFixture(t)
  const { must } = graphqlCaller(fixture)
  const [first, second] = [await projectOf(fixture, 'First'), await projectOf(fixture, 'Second')]
  for (const project_id of [first, second, second])
    await fixture.rest.must('POST', '/v1/webhooks', { name: 'Shop', target_url: 'https://hooks.example.ch/', project_id })
  const query = 'query ($projectId: ID) { webhookEndpoints(projectId: $projectId) { nodes { id projectId project { name } } } }'
  const of = async (caller: typeof must, projectId?: string) =>
    (await caller<{ webhookEndpoints: Page<{ id: string; projectId: string; project: { name: string } }> }>(query, { projectId }))
      .webhookEndpoints.nodes
  t.is((await of(must)).length, 3)
  t.deepEqual(
    (await of(must, second)).map(({ projectId, project }) => [projectId, project.name]),
    [
      [second, 'Second'],
      [second, 'Second'],
    ],
  )
  const minted = await fixture.rest.must('POST', '/v1/api-keys', { name: 'bound', scopes: ['api:read'], project_id: first })
  const bound = graphqlCaller(fixture, String(minted['key']))
  t.deepEqual(
    (await of(bound.must)).map(({ projectId }) => projectId),
    [first],
  )
  t.like(await bound.refused(query, { projectId: second }), { extensions: { code: 'not_found' } })
  t.is((await bound.must<{ me: { projectId: string } }>('{ me { projectId } }')).me.projectId, first)
})

test('traces are filtered as over REST, with their recipients and times', async (t) => {
  const fixture = await startFixture(t)
  const { must, refused } = graphqlCaller(fixture)
  const send = async (to: string, subject: string) =>
    String((await fixture.rest.must('POST', '/v1/messages', { ...mail, to, subject }))['trace_id'])
  const ada = await send('ada@example.ch', 'Order 1')
  fixture.clock.advance(60_000)
  const between = new Date(fixture.clock.now()).toISOString()
  fixture.clock.advance(60_000)
  const ben = await send('ben@example.ch', 'Order 2')
  const fields =
    '{ nodes { traceId status outcome subject to createdAt recipients { address status } recipientCounts route { by reason } project { id } } pageInfo { hasNextPage } }'
  const list = async (args: string, variables?: object) =>
    (
      await must<{ traces: Page<{ traceId: string; subject: string }> }>(
        `query ($since: DateTime) { traces(since: $since, ${args}) ${fields} }`,
        { ...variables },
      )
    ).traces.nodes
  t.deepEqual(
    (await list('first: 10')).map(({ traceId }) => traceId),
    [ben, ada],
  )
  t.deepEqual(
    (await list('to: "ada@example.ch"')).map(({ traceId }) => traceId),
    [ada],
  )
  t.deepEqual(
    (await list('q: "order 2", status: captured')).map(({ traceId }) => traceId),
    [ben],
  )
  t.deepEqual(
    (await list('first: 10', { since: between })).map(({ traceId }) => traceId),
    [ben],
  )
  t.deepEqual(await list(`outcome: "relayed"`), [])
  const [first] = await list('first: 1')
  t.like(first, { status: 'captured', outcome: 'captured.no_route', subject: 'Order 2', to: ['ben@example.ch'] })
  t.like(first, {
    recipients: [{ address: 'ben@example.ch', status: 'captured' }],
    recipientCounts: { captured: 1 },
    route: { by: 'none' },
  })
  const { trace } = await must<{ trace: { timeline: { event: string; at: string }[] } }>(
    'query ($id: ID!) { trace(traceId: $id) { timeline { at event message detail } } }',
    { id: ada },
  )
  t.true(trace.timeline.length > 0)
  t.like(await refused('{ traces(outcome: "lost") { nodes { traceId } } }'), { extensions: { details: { fields: [{ path: 'outcome' }] } } })
  t.like(await refused('{ traces(status: lost) { nodes { traceId } } }'), { extensions: { code: 'validation_failed' } })
})

test('virtualInboxMessages and virtualInboxMessage return captured mail', async (t) => {
  const fixture = await startFixture(t)
  const { must } = graphqlCaller(fixture)
  await fixture.rest.must('POST', '/v1/messages', { ...mail, to: 'ada@example.ch', subject: 'Welcome' })
  const { virtualInboxes } = await must<{ virtualInboxes: Page }>(
    '{ virtualInboxes { nodes { id addressPattern project { isDefault } } } }',
  )
  const inbox = virtualInboxes.nodes[0]?.id
  const { virtualInboxMessages } = await must<{ virtualInboxMessages: Page & { found: boolean } }>(
    'query ($inbox: ID!) { virtualInboxMessages(id: $inbox) { found nodes { id subject } pageInfo { hasNextPage } } }',
    { inbox },
  )
  t.like(virtualInboxMessages, { found: true, nodes: [{ subject: 'Welcome' }] })
  const { virtualInboxMessage } = await must<{ virtualInboxMessage: object }>(
    'query ($inbox: ID!, $id: ID!) { virtualInboxMessage(id: $inbox, messageId: $id) { subject text } }',
    { inbox, id: virtualInboxMessages.nodes[0]?.id },
  )
  t.like(virtualInboxMessage, { subject: 'Welcome', text: 'Thank you.' })
})

test('100 rules with their projects and destinations need a fixed number of reads', async (t) => {
  const fixture = await startFixture(t)
  const { must } = graphqlCaller(fixture)
  const names = Array.from({ length: 100 }, (_, i) => `P${i}`)
  await Promise.all(
    names.map(async (name, i) => {
      const project_id = await projectOf(fixture, name)
      const destination_id = await addDestination(fixture.rest, { project_id })
      await fixture.rest.must('POST', '/v1/routing/rules', { match: `d${i}.example`, destination_id, project_id })
    }),
  )
  const readsOf = async (
    query: string,
  ): Promise<{ reads: number; nodes: readonly { project?: { name: string }; destination?: { id: string } }[] }> => {
    let reads = 0
    fixture.kv.onLook = () => {
      reads++
    }
    const { routingRules } = await must<{ routingRules: Page<{ project?: { name: string }; destination?: { id: string } }> }>(query)
    fixture.kv.onLook = undefined
    return { reads, nodes: routingRules.nodes }
  }
  const related = '{ nodes { id project { name projectSendsToday } destination { id name project { name } } } }'
  await readsOf(`{ routingRules(first: 100) ${related} }`) // caches are filled
  const plain = await readsOf('{ routingRules(first: 100) { nodes { id } } }')
  const hundred = await readsOf(`{ routingRules(first: 100) ${related} }`)
  t.deepEqual([plain.nodes.length, hundred.nodes.length], [100, 100])
  t.is(new Set(hundred.nodes.map(({ project }) => project?.name)).size, 100)
  t.is(new Set(hundred.nodes.map(({ destination }) => destination?.id)).size, 100)
  const pieces = 100 / 20
  t.is(hundred.reads - plain.reads, 3 * pieces, 'for each part of the list: counters, queued mail, destinations')
})

test('a longer list of projects or forms needs no additional reads', async (t) => {
  const fixture = await startFixture(t)
  const { must } = graphqlCaller(fixture)
  for (let i = 0; i < 4; i++) {
    await projectOf(fixture, `P${i}`)
    await fixture.rest.must('POST', '/v1/forms', { name: `F${i}` })
  }
  const readsOf = async (query: string): Promise<number> => {
    let reads = 0
    fixture.kv.onLook = () => {
      reads++
    }
    await must(query)
    fixture.kv.onLook = undefined
    return reads
  }
  for (const list of ['projects', 'forms']) {
    const query = (first: number): string => `{ ${list}(first: ${first}) { nodes { id } pageInfo { endCursor } } }`
    await readsOf(query(2)) // caches are filled
    t.is(await readsOf(query(4)), await readsOf(query(2)), list)
  }
})

test('a linked resource that the key does not reach is null', async (t) => {
  const fixture = await startFixture(t)
  const [own, other] = [await projectOf(fixture, 'Own'), await projectOf(fixture, 'Other')]
  const shared = await addDestination(fixture.rest, { project_id: other })
  await fixture.rest.must('PATCH', `/v1/destinations/${shared}`, { scope: 'org' })
  const minted = await fixture.rest.must('POST', '/v1/api-keys', { name: 'bound', scopes: ['api:read'], project_id: own })
  const { must } = graphqlCaller(fixture, String(minted['key']))
  const { destinations } = await must<{ destinations: Page }>('{ destinations { nodes { id scope projectId project { name } } } }')
  t.deepEqual(destinations.nodes as readonly object[], [{ id: shared, scope: 'org', projectId: other, project: null }])
})

test('a refused field leaves the other fields in the answer', async (t) => {
  const fixture = await startFixture(t)
  const { client } = graphqlCaller(fixture)
  const { data, errors } = await client
    .rawRequest('{ destination(id: "dst_none") { id } me { name } }', {})
    .catch((error: unknown) => (error as { response: { data: object; errors: object[] } }).response)
  t.deepEqual(data as object, { destination: null, me: { name: 'Default' } })
  t.like(errors?.[0], { path: ['destination'], extensions: { code: 'not_found', next_action: 'check_id', status: 404 } })
})
