/** Every query and mutation, called by unauthorized callers: other organizations and projects, too small a scope, and invalid keys. */
import test from '#test'
import { within } from '#store/tuple.ts'
import { keyUses } from '#core/access/keys/key-uses.ts'
import type { RestClient } from '../../support/daemon/rest.ts'
import { mcpResource, restResource } from '../oauth/oauth-fixture.ts'
import { installationOf, type Installation } from '../rest/fixture/one-of-everything.ts'
import { walkOf } from './every-field.ts'
import { failuresOf, graphqlCaller, post } from './graphql-fixture.ts'

interface Outcome {
  /** `ok`, `refused` if an id is reported as unknown, or the codes of the errors. */
  readonly code: string
  readonly status: number
  readonly text: string
}

async function outcomeOf(installation: Installation, key: string, document: string, variables: object): Promise<Outcome> {
  const { status, body } = await post(installation, { query: document, variables }, {}, key)
  const codes = body.errors?.map(({ message, extensions: { code } }) =>
    code === 'not_found' || isWrongId(code, message) ? 'refused' : code,
  )
  return { code: codes ? [...new Set(codes)].join(' ') : 'ok', status, text: JSON.stringify(body) }
}

const isWrongId = (code: string, message: string): boolean => code === 'validation_failed' && /has this id/.test(message)

const keyOf = async (rest: RestClient, scopes: readonly string[], project?: string): Promise<string> =>
  String((await rest.must('POST', '/v1/api-keys', { name: 'walk', scopes, ...(project !== undefined && { project_id: project }) }))['key'])

/** Returns the rows of the organization, except the last use of its keys. */
async function rowsOf({ daemon, database, organizationId }: Installation): Promise<ReadonlyMap<string, string>> {
  await daemon.settled()
  const rows = new Map<string, string>()
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')
  for await (const { key, value } of database.kv.range(within([organizationId])))
    if (!text(key).includes(keyUses.name)) rows.set(text(key), text(value))
  return rows
}

async function changedSince(installation: Installation, before: ReadonlyMap<string, string>): Promise<string[]> {
  const now = await rowsOf(installation)
  return [...new Set([...before.keys(), ...now.keys()])].filter((key) => now.get(key) !== before.get(key))
}

const idsOf = ({ made }: Installation): string[] =>
  Object.values(made).filter((id) => /^(prj|dst|rul|smc|tpl|key|rpl|inb|cap|uns|whk|wha)_/.test(id))

test('owner: can select all fields of every query and mutation', async (t) => {
  const installation = await installationOf(t)
  const { client } = graphqlCaller(installation)
  for (const { name, document, variables, request } of walkOf(installation)) {
    const { errors } = await failuresOf(client.request(document, variables(request)))
    t.deepEqual(errors, [], name)
  }
  t.deepEqual(installation.failures, [])
})

test('another organization can neither read nor change anything', async (t) => {
  const installation = await installationOf(t)
  const outsider = await keyOf((await installation.addOrganization()).rest, ['api:admin'])
  const before = await rowsOf(installation)
  const ids = idsOf(installation)
  for (const { name, document, variables, request } of walkOf(installation)) {
    const { code, text } = await outcomeOf(installation, outsider, document, variables(request))
    t.is(code, request.outsider === 'refused' ? 'refused' : 'ok', `ledger: ${name}: ${text.slice(0, 300)}`)
    if (code === 'ok') for (const id of ids) t.false(text.includes(id), `ledger: ${name} shows ${id}`)
    t.deepEqual(await changedSince(installation, before), [], `ledger: ${name}`)
  }
})

test('an access token of another organization reads and changes nothing', async (t) => {
  const installation = await installationOf(t)
  const { body } = await installation.bootstrap({ resource: restResource })
  const before = await rowsOf(installation)
  const ids = idsOf(installation)
  for (const { name, document, variables, request } of walkOf(installation)) {
    const { code, text } = await outcomeOf(installation, String(body['access_token']), document, variables(request))
    if (request.outsider === 'refused') t.not(code, 'ok', `ledger: ${name}`)
    if (code === 'ok') for (const id of ids) t.false(text.includes(id), `ledger: ${name} shows ${id}`)
    t.deepEqual(await changedSince(installation, before), [], `ledger: ${name}`)
  }
})

test('a key of another project can neither read nor change this project', async (t) => {
  const installation = await installationOf(t)
  const neighbour = await keyOf(installation.rest, ['api:admin'], await installation.addProject())
  for (const { name, document, variables, request } of walkOf(installation)) {
    const expected = request.neighbour ?? request.outsider
    const { code, text } = await outcomeOf(installation, neighbour, document, variables(request))
    if (expected === 'shared') continue
    t.is(
      code,
      { refused: 'refused', forbidden: 'insufficient_scope', own: 'ok', silent: 'ok' }[expected],
      `ledger: ${name}: ${text.slice(0, 300)}`,
    )
    if (code === 'ok') t.false(text.includes(installation.made.project), `ledger: ${name} shows the project`)
  }
})

test('a key without the required scope is refused and changes nothing', async (t) => {
  const installation = await installationOf(t)
  const reader = await keyOf(installation.rest, ['api:read'])
  const sender = await keyOf(installation.rest, ['api:send'])
  const before = await rowsOf(installation)
  for (const { name, action, document, variables, request } of walkOf(installation)) {
    const { scope } = action
    for (const key of scope === 'api:admin' ? [reader, sender] : scope === 'api:send' ? [reader] : []) {
      const { code, status } = await outcomeOf(installation, key, document, variables(request))
      t.deepEqual([status, code], [200, 'insufficient_scope'], name)
    }
    if (scope === 'api:read') t.is((await outcomeOf(installation, reader, document, variables(request))).code, 'ok', name)
  }
  t.deepEqual(await changedSince(installation, before), [])
})

test('a missing or invalid key is refused by every field', async (t) => {
  const installation = await installationOf(t)
  const mint = async (body: object) => installation.rest.must('POST', '/v1/api-keys', { name: 'bad', scopes: ['api:admin'], ...body })
  const revoked = await mint({})
  await installation.rest.must('DELETE', `/v1/api-keys/${String(revoked['id'])}`)
  const publishable = await installation.rest.must('POST', '/v1/publishable-keys', {
    allowed_origins: ['https://shop.example.ch'],
    allowed_to: ['ada@example.ch'],
    locked_from: 'form@example.ch',
  })
  const agentToken = String((await installation.bootstrap({ resource: mcpResource })).body['access_token'])
  const sendOnly = await installation.rest.must('POST', '/v1/api-keys', { name: 'sends', send_only: true })
  for (const key of [null, 'garbage', String(revoked['key']), String(publishable['raw_token']), agentToken]) {
    for (const query of ['{ me { name } }', '{ __schema { queryType { name } } }', '{ not GraphQL', '{ __typename }']) {
      const { status, headers } = await post(installation, { query }, {}, key)
      t.is(status, 401, `${String(key).slice(0, 12)} ${query}`)
      t.regex(headers.get('www-authenticate') ?? '', /^Bearer/)
    }
  }
  t.is((await post(installation, { query: '{ me { name } }' }, {}, String(sendOnly['key']))).status, 403)
})
