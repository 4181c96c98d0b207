/**
 * The table of access to resources of the whole organization: the documentation shows it, and each cell is tested through REST, GraphQL and
 * MCP.
 */
import { readFile } from 'node:fs/promises'
import test, { type ExecutionContext } from '#test'
import { organizationActs, reaches, reachOf, type OrganizationActName, type Reach } from '#core/access/principal/organization-acts.ts'
import { roles, type Role } from '#core/access/principal/role.ts'
import { restTable } from '../../../../admin-api/rest/rest-operations.ts'
import { everyField } from '../../graphql/every-field.ts'
import { post } from '../../graphql/graphql-fixture.ts'
import { startMcp, type Agent, type McpFixture } from '../../mcp/mcp-fixture.ts'
import { ask } from '../fixture/one-of-everything.ts'
import { probes, type Probe, type ProbedWorld } from './organization-probes.ts'
import { sessionOf } from '../fixture/sessions.ts'

const acts = Object.keys(organizationActs) as OrganizationActName[]

/** The columns of the table, from the left. */
const columns = {
  'Owner, admin, key of the organization': () => 'all',
  Developer: ({ developer }) => developer,
  Viewer: ({ developer, reading }) => (reading ? developer : 'none'),
  Billing: ({ reading }) => (reading === 'viewers and billing' ? 'all' : 'none'),
  'Key or token of one project': ({ bound }) => bound,
} as const satisfies Readonly<Record<string, (act: (typeof organizationActs)[OrganizationActName]) => Reach>>
type Column = keyof typeof columns

const cellOf = (column: Column, name: OrganizationActName): Reach => columns[column](organizationActs[name])

const texts: Readonly<Record<Reach, string>> = { all: 'all', match: 'yes or no', own: 'own project', none: '–' }

test('organization table: people.md shows it', async (t) => {
  const chapter = await readFile('admin-api/docs/people.md', 'utf8')
  const rows = chapter.split('\n').flatMap((line) =>
    line.startsWith('|')
      ? [
          line
            .split('|')
            .slice(1, -1)
            .map((cell) => cell.trim()),
        ]
      : [],
  )
  const from = rows.findIndex(([first]) => first === 'Of the organization')
  t.deepEqual(rows[from], ['Of the organization', 'Act', ...Object.keys(columns)])
  t.deepEqual(
    rows.slice(from + 2, from + 2 + acts.length),
    acts.map((name) => {
      const { what, act } = organizationActs[name]
      return [what, act, ...(Object.keys(columns) as Column[]).map((column) => texts[cellOf(column, name)])]
    }),
  )
  t.is(rows[from + 2 + acts.length], undefined, 'the table ends the chapter')
})

interface Answered {
  readonly isGood: boolean
  readonly text: string
}

/** Makes the request of an operation; returns undefined if the entry point has no such operation. */
type Door = (id: string, request: Probe['foreign']) => Promise<Answered | undefined>

/** Returns the reach that a probe shows, or undefined if the entry point has no such operation. */
async function seen(door: Door, { id, foreign, own, shows, took = async () => true }: Probe): Promise<Reach | undefined> {
  const answer = await door(id, foreign)
  if (!answer) return undefined
  if (shows) {
    if (!answer.isGood) return 'none'
    if (answer.text.includes(shows.foreign)) return 'all'
    if (shows.match !== undefined && answer.text.includes(shows.match)) return 'match'
    return shows.own !== undefined && answer.text.includes(shows.own) ? 'own' : 'none'
  }
  if (answer.isGood && (await took('foreign', answer.text))) return 'all'
  const second = own && (await door(id, own))
  return second?.isGood && (await took('own', second.text)) ? 'own' : 'none'
}

/** Tries each cell of a column; returns the number of probes with an answer. */
async function walk(t: ExecutionContext, world: ProbedWorld, door: Door, column: Column): Promise<number> {
  let tried = 0
  for (const name of acts)
    for (const probe of await probes[name](world)) {
      const reach = await seen(door, probe)
      if (reach === undefined) continue
      tried++
      t.is(reach, cellOf(column, name), `ledger: ${column}: ${name}: ${probe.id}`)
    }
  return tried
}

async function worldOf(t: ExecutionContext): Promise<McpFixture & ProbedWorld> {
  const fixture = await startMcp(t)
  let latest = 0
  const fresh = (what: string): string => `${what}${++latest}`
  return { ...fixture, own: await fixture.addProject(), other: fixture.projectId, fresh }
}

type Headers = Readonly<Record<string, string>>

const restDoor =
  ({ client, operations }: ProbedWorld, key: string, more: Headers = {}): Door =>
  async (id, { headers, ...request }) => {
    const operation = operations.find(({ operationId }) => operationId === id)
    if (!operation) throw new Error(`no operation ${id}`)
    const { status, bytes } = await ask(client(key), operation, { ...request, headers: { ...headers, ...more }, outsider: 'refused' })
    return { isGood: status < 400, text: bytes.toString() }
  }

const graphqlDoor =
  (world: ProbedWorld, key: string): Door =>
  async (id, request) => {
    const field = everyField.find(({ action }) => action.id === id)
    if (!field) return undefined
    const { body } = await post(world, { query: field.document, variables: field.variables({ ...request, outsider: 'refused' }) }, {}, key)
    return { isGood: body.errors === undefined, text: JSON.stringify(body) }
  }

/** Actions that have a separate action for agents. */
const agentActions: Readonly<Record<string, string>> = {
  listSuppressions: 'listSuppressionsByOffset',
  importSuppressions: 'importFewSuppressions',
}

const mcpDoor =
  (agent: Agent): Door =>
  async (id, { params, query, body }) => {
    const tool = restTable.flatMap((entry) =>
      'run' in entry && entry.tool && entry.id === (agentActions[id] ?? id) ? [entry.tool] : [],
    )[0]
    if (!tool) return undefined
    const { limit: _limit, ...given } = {
      ...params,
      ...Object.fromEntries(new URLSearchParams(query)),
      ...(body as object | undefined),
    } as Record<string, unknown>
    const renamed = Object.entries(given).map(([field, value]) => {
      const [argument = field] = Object.entries(tool.arguments ?? {}).find(([, named]) => named === field) ?? []
      return [Array.isArray(tool.arguments) ? field : argument, value]
    })
    const { isError, value } = await agent.call(tool.name, Object.fromEntries(renamed) as Record<string, unknown>)
    return { isGood: !isError, text: JSON.stringify(value) }
  }

const boundKey = async ({ rest, own }: ProbedWorld): Promise<string> =>
  String((await rest.must('POST', '/v1/api-keys', { name: 'x', scopes: ['api:admin'], project_id: own }))['key'])

const columnOf: Readonly<Record<Role, Column>> = {
  owner: 'Owner, admin, key of the organization',
  admin: 'Owner, admin, key of the organization',
  developer: 'Developer',
  viewer: 'Viewer',
  billing: 'Billing',
}

for (const role of roles)
  test(`REST: a member with the role ${role} has the reach of the table`, async (t) => {
    const world = await worldOf(t)
    const cookie = await sessionOf(world, await world.addMember(`${role}@example.ch`, role))
    const headers = { authorization: '', cookie, 'sec-fetch-site': 'same-origin', 'x-organization-id': world.organizationId }
    t.true((await walk(t, world, restDoor(world, '', headers), columnOf[role])) > 60)
  })

test('REST: organization and project keys and tokens have the access of the table', async (t) => {
  const world = await worldOf(t)
  const { key } = await world.rest.must('POST', '/v1/api-keys', { name: 'x', scopes: ['api:admin'] })
  await walk(t, world, restDoor(world, String(key)), 'Owner, admin, key of the organization')
  await walk(t, world, restDoor(world, await boundKey(world)), 'Key or token of one project')
  const { access_token: token } = await world.signIn({ scope: 'api:read api:send api:admin' }, { project: world.own })
  await walk(t, world, restDoor(world, String(token)), 'Key or token of one project')
})

test('GraphQL: keys of the organization and of one project have the reach of the table', async (t) => {
  const world = await worldOf(t)
  const { key } = await world.rest.must('POST', '/v1/api-keys', { name: 'x', scopes: ['api:admin'] })
  const tried = await walk(t, world, graphqlDoor(world, String(key)), 'Owner, admin, key of the organization')
  t.is(await walk(t, world, graphqlDoor(world, await boundKey(world)), 'Key or token of one project'), tried)
  t.true(tried > 20, `${tried} probes`)
})

test('MCP: a token has the access of the table, or of an administrator if allowed', async (t) => {
  const world = await worldOf(t)
  const agent = await world.agent({ token: await world.tokenOf(undefined, { project: world.own }) })
  const tried = await walk(t, world, mcpDoor(agent), 'Key or token of one project')
  t.true(tried > 10, `${tried} probes`)
  const allowed = await world.agent({ token: await world.tokenOf(undefined, { project: world.own, reach: 'organization' }) })
  for (const name of acts)
    for (const probe of await probes[name](world)) {
      const action = restTable.find((entry) => 'run' in entry && entry.id === (agentActions[probe.id] ?? probe.id))
      if (!action || !('tool' in action) || !action.tool?.reachesOrganization) continue
      t.is(await seen(mcpDoor(allowed), probe), 'all', `ledger: ${name}: ${probe.id}`)
    }
})

test('table: a key has the smaller access of its role and its project', (t) => {
  for (const name of acts) {
    const { developer, bound } = organizationActs[name]
    const lesser = reaches.indexOf(developer) < reaches.indexOf(bound) ? developer : bound
    t.is(reachOf({ bound: true, projectsOnly: true }, name), lesser, name)
    t.is(reachOf({ bound: true }, name), bound, name)
    t.is(reachOf({ bound: false }, name), 'all', name)
  }
})
