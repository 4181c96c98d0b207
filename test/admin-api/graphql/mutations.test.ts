/** Create, update, move and delete mutations follow the rules of REST. */
import test from '#test'
import { addDestination, startFixture, type Fixture } from '../rest/fixture/rest-fixture.ts'
import { graphqlCaller, post, type GraphqlCaller } from './graphql-fixture.ts'

type Json = Readonly<Record<string, unknown>>

const projectOf = async ({ rest }: Fixture, name: string): Promise<string> =>
  String((await rest.must('POST', '/v1/projects', { name }))['id'])

/** The result of one mutation that takes an input. */
async function create({ must }: GraphqlCaller, noun: string, input: Json, fields = 'id projectId project { name }'): Promise<Json> {
  const data = await must<Record<string, Json>>(`mutation ($input: Create${noun}Input!) { create${noun}(input: $input) { ${fields} } }`, {
    input,
  })
  return data[`create${noun}`] ?? {}
}

/** For every resource of a project: its required fields. */
const made: Readonly<Record<string, Json>> = {
  Destination: { name: 'Host', provider: 'smtp', credentials: { host: '127.0.0.1', port: 2600, security: 'none' } },
  Form: { name: 'Contact', template: 'contact' },
  EmailTemplate: { slug: 'welcome', name: 'Welcome', subjectTmpl: 'Hello {{name}}', textTmpl: 'Hello' },
  InboundRoute: { localPartPattern: 'sales', webhookUrl: 'https://hooks.example.ch/' },
  SmtpCredential: { label: 'Shop' },
  VirtualInbox: { addressPattern: '@qa.example.ch' },
  WebhookEndpoint: { name: 'Shop', targetUrl: 'https://hooks.example.ch/', eventTypes: ['bounced', 'complained'] },
  Site: { slug: 'alpenblick' },
  PublishableKey: { allowedOrigins: ['https://shop.example.ch'], allowedTo: ['ada@example.ch'], lockedFrom: 'form@example.ch' },
  ApiKey: { name: 'CI', scopes: ['api:read'] },
  InspectTest: {},
}

test('create mutations create resources in the project of projectId', async (t) => {
  const fixture = await startFixture(t)
  const caller = graphqlCaller(fixture)
  const projectId = await projectOf(fixture, 'Shop')
  for (const [noun, input] of Object.entries(made)) {
    t.like(await create(caller, noun, { ...input, projectId }), { projectId, project: { name: 'Shop' } }, noun)
    const { refused } = caller
    const foreign = await refused(`mutation ($input: Create${noun}Input!) { create${noun}(input: $input) { id } }`, {
      input: { ...input, projectId: 'prj_0' },
    })
    t.like(foreign.extensions, { code: 'not_found', status: 404 }, noun)
  }
})

test('secrets appear in the answer of their creation only', async (t) => {
  const fixture = await startFixture(t)
  const caller = graphqlCaller(fixture)
  const login = await create(caller, 'SmtpCredential', {}, 'id username password')
  const webhook = await create(caller, 'WebhookEndpoint', made['WebhookEndpoint'] ?? {}, 'id hmacSecret')
  const key = await create(caller, 'ApiKey', made['ApiKey'] ?? {}, 'id key')
  t.true([login['password'], webhook['hmacSecret'], key['key']].every((secret) => typeof secret === 'string' && secret.length > 15))
  const rotated = await caller.must<Record<string, Json>>('mutation ($id: ID!) { rotateWebhookEndpointSecret(id: $id) { hmacSecret } }', {
    id: webhook['id'],
  })
  t.not(rotated['rotateWebhookEndpointSecret']?.['hmacSecret'], webhook['hmacSecret'])
  t.regex((await caller.refused('{ smtpCredentials { nodes { password } } }')).message, /Cannot query field "password"/)
  t.regex((await caller.refused('{ apiKeys { nodes { key } } }')).message, /Cannot query field "key"/)
})

const moving =
  'mutation ($type: MovableResource!, $id: ID!, $to: ID!) { moveResource(resourceType: $type, resourceId: $id, projectId: $to) { resourceType resourceId projectId project { name } warnings { path message } } }'

test('moveResource moves each kind, and repeating it changes nothing', async (t) => {
  const fixture = await startFixture(t)
  const caller = graphqlCaller(fixture)
  const to = await projectOf(fixture, 'Target')
  const kinds = {
    email_template: 'EmailTemplate',
    inbound_route: 'InboundRoute',
    smtp_credential: 'SmtpCredential',
    virtual_inbox: 'VirtualInbox',
    webhook_endpoint: 'WebhookEndpoint',
    destination: 'Destination',
    form: 'Form',
    site: 'Site',
  }
  for (const [type, noun] of Object.entries(kinds)) {
    const { id } = await create(caller, noun, made[noun] ?? {})
    for (let times = 0; times < 2; times++) {
      const moved = await caller.must<Record<string, Json>>(moving, { type, id, to })
      t.deepEqual(
        moved['moveResource'],
        { resourceType: type, resourceId: id, projectId: to, project: { name: 'Target' }, warnings: [] },
        type,
      )
    }
    const one = noun.charAt(0).toLowerCase() + noun.slice(1)
    t.deepEqual(await caller.must(`query ($id: ID!) { ${one}(id: $id) { projectId } }`, { id }), { [one]: { projectId: to } } as never)
  }
})

test('resources of a disabled flag do not move', async (t) => {
  const fixture = await startFixture(t)
  const caller = graphqlCaller(fixture)
  const to = await projectOf(fixture, 'Target')
  const { id } = await create(caller, 'WebhookEndpoint', made['WebhookEndpoint'] ?? {})
  const flags = `/operator/v1/organizations/${fixture.organizationId}/flags`
  await fixture.operator.must('PUT', flags, { webhooks: false })
  t.like((await caller.refused(moving, { type: 'webhook_endpoint', id, to })).extensions, {
    code: 'feature_disabled',
    details: { flag: 'webhooks' },
  })
  t.is((await fixture.rest.call('GET', `/v1/webhooks/${String(id)}`)).status, 403)
})

test('movable shows whether moveResource can move a destination', async (t) => {
  const fixture = await startFixture(t)
  const caller = graphqlCaller(fixture)
  const to = await projectOf(fixture, 'Target')
  const [free, ruled, fallback, primary, sender, shared] = await Promise.all(Array.from({ length: 6 }, () => addDestination(fixture.rest)))
  await fixture.rest.must('POST', '/v1/routing/rules', { match: 'a.example', destination_id: ruled })
  await fixture.rest.must('POST', '/v1/failover/policy', {
    primary_id: primary,
    fallback_ids: [fallback],
    conditions: { on: ['transient'] },
  })
  await fixture.rest.must('POST', '/v1/smtp-credentials', { default_destination_id: sender })
  await fixture.rest.must('PATCH', `/v1/destinations/${String(shared)}`, { scope: 'org' })
  const { destinations } = await caller.must<{ destinations: { nodes: readonly { id: string; movable: boolean }[] } }>(
    '{ destinations { nodes { id movable } } }',
  )
  t.deepEqual(
    destinations.nodes.flatMap(({ id, movable }) => (movable ? [id] : [])),
    [free],
  )
  for (const { id, movable } of destinations.nodes) {
    t.is((await fixture.rest.must('GET', `/v1/destinations/${id}`))['movable'], movable)
    const isRefused = await caller.refused(moving, { type: 'destination', id, to }).then(
      () => true,
      () => false,
    )
    t.is(isRefused, !movable, id)
  }
})

test('moveResource refuses named and shared destinations, taken names, and foreign resources', async (t) => {
  const fixture = await startFixture(t)
  const caller = graphqlCaller(fixture)
  const { refused } = caller
  const to = await projectOf(fixture, 'Target')
  const named = await addDestination(fixture.rest)
  await fixture.rest.must('POST', '/v1/routing/rules', { match: 'a.example', destination_id: named })
  t.like((await refused(moving, { type: 'destination', id: named, to })).extensions, { code: 'conflict', status: 409 })
  const shared = await addDestination(fixture.rest)
  await fixture.rest.must('PATCH', `/v1/destinations/${shared}`, { scope: 'org' })
  t.like((await refused(moving, { type: 'destination', id: shared, to })).extensions, { code: 'validation_failed' })
  const { id: template } = await create(caller, 'EmailTemplate', made['EmailTemplate'] ?? {})
  await create(caller, 'EmailTemplate', { ...made['EmailTemplate'], projectId: to })
  t.like((await refused(moving, { type: 'email_template', id: template, to })).extensions, { code: 'conflict' })
  const outsider = await fixture.addOrganization()
  const theirs = await outsider.rest.must('POST', '/v1/webhooks', { name: 'Theirs', target_url: 'https://hooks.example.ch/' })
  t.like((await refused(moving, { type: 'webhook_endpoint', id: theirs['id'], to })).extensions, { code: 'not_found' })
  const { id: own } = await create(caller, 'WebhookEndpoint', made['WebhookEndpoint'] ?? {})
  for (const target of [outsider.projectId, 'prj_none']) {
    const { message, extensions } = await refused(moving, { type: 'webhook_endpoint', id: own, to: target })
    t.is(extensions.code, 'not_found')
    t.regex(message, /^projectId: no project/)
  }
  t.regex(
    (await refused('mutation { moveResource(resourceType: trace, resourceId: "x", projectId: "y") { projectId } }')).message,
    /MovableResource/,
  )
})

const marking = 'mutation ($id: ID!, $input: UpdateDestinationInput!) { updateDestination(id: $id, input: $input) { scope isOrgDefault } }'

test('a destination becomes organization-wide and the default sender if the plan allows it', async (t) => {
  const fixture = await startFixture(t)
  const { must } = graphqlCaller(fixture)
  const id = await addDestination(fixture.rest, {}, true)
  t.deepEqual(await must(marking, { id, input: { scope: 'org' } }), { updateDestination: { scope: 'org', isOrgDefault: false } } as never)
  t.deepEqual(await must(marking, { id, input: { isOrgDefault: true } }), {
    updateDestination: { scope: 'org', isOrgDefault: true },
  } as never)
  const other = await projectOf(fixture, 'Other')
  t.deepEqual(await must('query ($p: ID) { destinations(projectId: $p) { nodes { id } } }', { p: other }), {
    destinations: { nodes: [{ id }] },
  } as never)
  const small = await startFixture(t, { plan: 'basic' })
  const refusal = await graphqlCaller(small).refused(marking, { id: await addDestination(small.rest), input: { scope: 'org' } })
  t.is(refusal.extensions.code, 'feature_disabled')
})

test('errors use the GraphQL names of the arguments', async (t) => {
  const { refused } = graphqlCaller(await startFixture(t))
  const fieldsOf = async (mutation: string): Promise<unknown> => (await refused(mutation)).extensions.details?.['fields']
  t.like(await fieldsOf('mutation { createWebhookEndpoint(input: { name: "", targetUrl: "https://a.example.ch/" }) { id } }'), [
    { path: 'input.name' },
  ])
  t.like(
    await fieldsOf(
      'mutation { createPublishableKey(input: { allowedOrigins: ["https://a.ch"], allowedTo: ["a@b.ch"], lockedFrom: "a@b.ch", rates: { perIpHour: -1 } }) { id } }',
    ),
    [{ path: 'input.rates.perIpHour' }],
  )
  t.like(await fieldsOf('mutation { createDestination(input: { name: "x", provider: ses, credentials: { region: 1 } }) { id } }'), [
    { path: 'input.credentials.region' },
  ])
  t.like(await refused('mutation { createWebhookEndpoint(input: { name: "x" }) { id } }'), { extensions: { code: 'validation_failed' } })
  t.like(
    await refused('mutation ($input: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $input) { id } }', { input: { name: 1 } }),
    {
      extensions: { code: 'validation_failed', status: 400 },
    },
  )
})

test('null means the same as an absent argument if REST treats it that way', async (t) => {
  const caller = graphqlCaller(await startFixture(t))
  t.like(await create(caller, 'WebhookEndpoint', { ...made['WebhookEndpoint'], eventTypes: null, projectId: null }), {
    project: { name: 'Default' },
  })
  const { traces } = await caller.must<{ traces: { nodes: [] } }>(
    'query ($p: ID, $n: Int) { traces(projectId: $p, first: $n, to: null) { nodes { traceId } } }',
    { p: null, n: null },
  )
  t.deepEqual(traces.nodes, [])
})

test('mutations of one request run in order; a refused one does not undo the others', async (t) => {
  const fixture = await startFixture(t)
  const { must, refused } = graphqlCaller(fixture)
  const twice = 'first: createEmailTemplate(input: $input) { slug } second: createEmailTemplate(input: $input) { slug }'
  const query = `mutation ($input: CreateEmailTemplateInput!) { ${twice} third: createProject(input: { name: "After" }) { name } }`
  const answer = await post(fixture, { query, variables: { input: made['EmailTemplate'] } })
  t.deepEqual(answer.body.data, { first: { slug: 'welcome' }, second: null, third: { name: 'After' } })
  t.like(answer.body.errors, [{ path: ['second'], extensions: { code: 'conflict', next_action: 'read_and_retry', status: 409 } }])
  const { emailTemplates } = await must<{ emailTemplates: { nodes: { id: string }[] } }>('{ emailTemplates { nodes { id } } }')
  const [{ id } = { id: '' }] = emailTemplates.nodes
  const deletion = 'mutation ($id: ID!) { deleteEmailTemplate(id: $id) }'
  t.deepEqual(await must(deletion, { id }), { deleteEmailTemplate: true } as never)
  t.like((await refused(deletion, { id })).extensions, { code: 'not_found' })
})
