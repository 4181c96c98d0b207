/** The schema: the file is current, it follows the GraphQL rules, and project resources are listed and created by project. */
import { readFileSync } from 'node:fs'
import test from '#test'
import {
  buildClientSchema,
  buildSchema,
  getIntrospectionQuery,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  lexicographicSortSchema,
  printSchema,
  validateSchema,
  type IntrospectionQuery,
} from 'graphql'
import { builtSchema } from '../../../admin-api/graphql/engine.ts'
import { schemaText } from '../../../admin-api/graphql/schema-file.ts'
import { startFixture } from '../rest/fixture/rest-fixture.ts'
import { graphqlCaller } from './graphql-fixture.ts'

const file = new URL('../../../admin-api/graphql/schema.graphql', import.meta.url)

test('the schema file is current and follows the rules', (t) => {
  const text = readFileSync(file, 'utf8')
  t.is(text, schemaText(), 'run npm run generate')
  t.deepEqual(validateSchema(buildSchema(text)), [])
})

test('a client builds the same schema from introspection', async (t) => {
  const { must } = graphqlCaller(await startFixture(t))
  const introspection = await must<IntrospectionQuery>(getIntrospectionQuery())
  const described = printSchema(lexicographicSortSchema(buildClientSchema(introspection)))
  t.is(described.replaceAll(/ @specifiedBy\([^)]*\)/g, ''), sortedFile().replaceAll(/ @specifiedBy\([^)]*\)/g, ''))
})

const sortedFile = (): string => printSchema(lexicographicSortSchema(buildSchema(readFileSync(file, 'utf8'))))

const queries = Object.values(builtSchema.schema.getQueryType()?.getFields() ?? {})
const mutations = Object.values(builtSchema.schema.getMutationType()?.getFields() ?? {})

test('every list has first and after, and reports whether more entries follow', (t) => {
  const lists = queries.filter(({ type }) => String(type).endsWith('Connection'))
  t.true(lists.length >= 18)
  for (const { name, type, args } of lists) {
    const [first, after] = ['first', 'after'].map((arg) => args.find((one) => one.name === arg))
    t.deepEqual([String(first?.type), first?.default, String(after?.type)], ['Int', { value: 50 }, 'String'], name)
    t.deepEqual(isObjectType(type) && Object.keys(type.getFields()).slice(0, 2), ['nodes', 'pageInfo'], name)
  }
})

test('resources of projects are listed by project and created in a project', (t) => {
  const owned = ['destinations', 'routingRules', 'failoverPolicies', 'emailTemplates', 'inboundRoutes', 'smtpCredentials', 'apiKeys']
  const more = [
    'publishableKeys',
    'virtualInboxes',
    'webhookEndpoints',
    'webhookAttempts',
    'traces',
    'scheduledSends',
    'replays',
    'inspectTests',
    'sites',
    'suppressions',
    'queuedMessages',
    'queueActs',
    'queueHolds',
    'postofficeMappings',
    'forms',
    'allFormSubmissions',
  ]
  for (const name of [...owned, ...more]) {
    const list = queries.find((one) => one.name === name)
    t.is(String(list?.args.find((arg) => arg.name === 'projectId')?.type), 'ID', name)
  }
  const creates = [
    'Destination',
    'RoutingRule',
    'EmailTemplate',
    'InboundRoute',
    'SmtpCredential',
    'ApiKey',
    'PublishableKey',
    'VirtualInbox',
  ]
  for (const noun of [...creates, 'WebhookEndpoint', 'InspectTest', 'Site', 'Suppression']) {
    const input = builtSchema.schema.getType(`Create${noun}Input`)
    t.is(isInputObjectType(input) && String(input.getFields()['projectId']?.type), 'ID', noun)
    t.true(mutations.some(({ name }) => name === `create${noun}`))
  }
  const interfaceType = builtSchema.schema.getType('ProjectOwned')
  t.true(isInterfaceType(interfaceType) && builtSchema.schema.getPossibleTypes(interfaceType).length > 10)
})

test('the enum of moveResource names every movable type and no other', (t) => {
  const file = sortedFile()
  const [, values = ''] = /enum MovableResource \{([^}]*)\}/.exec(file) ?? []
  t.deepEqual(values.trim().split(/\s+/), [
    'destination',
    'email_template',
    'form',
    'inbound_route',
    'site',
    'smtp_credential',
    'virtual_inbox',
    'webhook_endpoint',
  ])
})
