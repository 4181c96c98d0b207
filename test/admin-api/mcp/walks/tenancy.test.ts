/**
 * Every tool with foreign ids, one argument at a time: of another organization, of another project, and from a sandbox without a user.
 * Calls return not_found or found=false and no data, and the rows of the owner do not change.
 */
import test, { type ExecutionContext } from '#test'
import { members } from '#core/people/members/member.ts'
import { Change } from '#store/change.ts'
import { userId, type Fields } from '../../oauth/oauth-fixture.ts'
import { changedSince, rowsOf } from '../../rest/fixture/organization-rows.ts'
import { startMcp, type Agent, type Called, type McpFixture } from '../mcp-fixture.ts'
import { makeForTools, toolRequestsOf, type ToolMade } from './tool-requests.ts'

/** A call with one foreign id, or with all ids foreign. */
interface ForeignCall {
  readonly name: string
  readonly argument: string
  readonly given: Readonly<Record<string, unknown>>
}

const isId = (name: string): boolean => /(?:^|_)ids?$|^id_or_address$|^reveal_url$/.test(name)

/** Returns the arguments that accept ids, including nested ones. */
function idArguments(schema: unknown, path: readonly string[] = []): string[] {
  const { properties = {} } = schema as { readonly properties?: Readonly<Record<string, unknown>> }
  return Object.entries(properties).flatMap(([name, one]) => (isId(name) ? [[...path, name].join('.')] : idArguments(one, [...path, name])))
}

type Given = Readonly<Record<string, unknown>>

const at = (given: Given, path: string): unknown =>
  path.split('.').reduce<unknown>((one, name) => (one as Given | undefined)?.[name], given)

function placed(given: Given, path: string, value: unknown): Given {
  const [first = '', ...rest] = path.split('.')
  return { ...given, [first]: rest.length === 0 ? value : placed((given[first] ?? {}) as Given, rest.join('.'), value) }
}

/** Returns a call of the outsider for each id argument, with the owner's id there and own ids elsewhere. */
async function foreignCalls(agent: Agent, theirs: ToolMade, own: ToolMade): Promise<readonly ForeignCall[]> {
  const [foreign, good] = [toolRequestsOf(theirs), toolRequestsOf(own)]
  const { tools } = await agent.client.listTools()
  return tools.flatMap(({ name, inputSchema }) =>
    idArguments(inputSchema).flatMap((argument): readonly ForeignCall[] => {
      const value = at(foreign[name]?.given ?? {}, argument) ?? more(theirs)[`${name}.${argument}`]
      if (value === undefined) throw new Error(`${name} takes ${argument}; name one in tool-requests.ts`)
      return [{ name, argument, given: placed(good[name]?.given ?? {}, argument, value) }]
    }),
  )
}

/** Ids in arguments that the owner's calls omit. */
const more = (made: ToolMade): Readonly<Record<string, unknown>> => ({
  'virtual_inbox_messages_list.id_or_address': made.inbox,
})

/** Deletions that succeed without effect, whether the object exists or not. */
const silent = new Set([
  ...['mailenable_postoffice_map_delete', 'webhook_endpoint_delete', 'smtp_credential_revoke', 'virtual_inbox_delete'],
  ...['email_suppression_remove', 'bounce_source_revoke'],
])

function outcomeOf({ isError, value }: Called): string {
  const { error, found, data, done } = value as {
    readonly error?: { readonly code: string; readonly message: string }
    readonly found?: boolean
    readonly data?: readonly unknown[]
    readonly done?: boolean
  }
  if (isError)
    return error?.code === 'validation_failed' && /has this id|no reveal/i.test(error.message) ? 'not_found' : String(error?.code)
  if (found === false || data?.length === 0) return 'not_found'
  return done === true ? 'silent' : 'data'
}

/** Filters of the caller's own messages; a foreign id matches none. */
const choosing = new Set(['email_bulk_replay.filter.destination_id'])

async function mustGetNothing(
  t: ExecutionContext,
  agent: Agent,
  calls: readonly ForeignCall[],
  { ids = [], also }: { readonly ids?: readonly string[]; readonly also?: string } = {},
): Promise<void> {
  for (const { name, argument, given } of calls) {
    const called = await agent.call(name, given)
    const outcome = outcomeOf(called)
    const what = `ledger: ${name}.${argument}: ${called.text.slice(0, 400)}`
    if (!choosing.has(`${name}.${argument}`))
      t.true(outcome === 'not_found' || outcome === also || (outcome === 'silent' && silent.has(name)), what)
    const asked = JSON.stringify(given)
    for (const id of ids) if (!asked.includes(id)) t.false(called.text.includes(id) || JSON.stringify(called.value).includes(id), what)
  }
}

const idsOf = (made: ToolMade): readonly string[] => Object.values(made).filter((id) => /^[a-z]{3}_|^[0-9a-f]{8}-/.test(id))

async function agentElsewhere(fixture: McpFixture, organizationId: string, projectId: string, more: Fields = {}): Promise<Agent> {
  const record = { id: userId, organizationId, role: 'admin', joinedAt: fixture.clock.now() } as const
  if (organizationId !== fixture.organizationId) await fixture.database.commit(new Change().insert(members, organizationId, record))
  return fixture.agent({ token: await fixture.tokenOf(undefined, { organization: organizationId, project: projectId, ...more }) })
}

test('tenancy: another organization reads and changes nothing by any id', async (t) => {
  const fixture = await startMcp(t)
  const made = await makeForTools(fixture)
  const outsider = await fixture.addOrganization()
  const own = await makeForTools({ ...fixture, ...outsider, addMember: async () => '' })
  const agent = await agentElsewhere(fixture, outsider.organizationId, outsider.projectId, { reach: 'organization' })
  const before = await rowsOf({ ...fixture, made })
  await mustGetNothing(t, agent, await foreignCalls(agent, made, own), { ids: idsOf(made) })
  t.deepEqual(await changedSince({ ...fixture, made }, before), [], 'ledger: rows of the owner changed')
  const { reveal_url: _used, ...form } = toolRequestsOf(made)['email_html_snippet_generate']?.given ?? {}
  t.truthy(
    await (await fixture.agent()).must('email_html_snippet_generate', { ...form, reveal_url: made.reveal }),
    'the link is still valid',
  )
})

/** Tools that show data of the organization to all projects. */
const shared = /^bounce_source_get$/

test('tenancy: another project reads and changes nothing by any id', async (t) => {
  const fixture = await startMcp(t)
  const made = await makeForTools(fixture)
  const project = await fixture.addProject()
  const agent = await agentElsewhere(fixture, fixture.organizationId, project)
  const before = await rowsOf({ ...fixture, made })
  const calls = (await foreignCalls(agent, made, made)).filter(({ name }) => !shared.test(name))
  await mustGetNothing(t, agent, calls, { also: 'insufficient_scope' })
  const changed = await changedSince({ ...fixture, made }, before)
  t.deepEqual(
    changed.filter((key) => before.has(key)),
    [],
    'ledger: rows of the owner changed',
  )
})

test('tenancy: an unclaimed sandbox finds nothing by foreign ids, domains and slugs', async (t) => {
  const fixture = await startMcp(t)
  const made = await makeForTools(fixture)
  const agent = await fixture.agent({ token: await fixture.anonymousToken() })
  const before = await rowsOf({ ...fixture, made })
  await mustGetNothing(t, agent, await foreignCalls(agent, made, made), { also: 'insufficient_scope' })
  t.like(
    await agent.must('virtual_inbox_get', { id_or_address: '@seen.ch' }),
    { found: false },
    'ledger: a sandbox finds nothing of others',
  )
  t.like(
    await agent.must('email_domain_verify_status', { domain: 'sender.example.ch' }),
    { found: false },
    'ledger: a sandbox finds nothing of others',
  )
  const mail = { from: 'a@example.ch', to: 'b@example.ch', template_slug: 'welcome' }
  t.regex((await agent.refused('email_send_test', mail)).code, /validation_failed|not_found/)
  t.deepEqual((await agent.must('email_template_list'))['data'], [], 'ledger: a sandbox lists nothing of others')
  t.deepEqual(await changedSince({ ...fixture, made }, before), [], 'ledger: rows of the owner changed')
})
