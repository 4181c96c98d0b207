/**
 * Every operation of the table, called with browser sessions: by members of every role, from pages of other sites, and with ended sessions.
 */
import test, { type ExecutionContext } from '#test'
import { roles, type Role } from '#core/access/principal/role.ts'
import { members } from '#core/people/members/member.ts'
import { Change } from '#store/change.ts'
import { keyUses } from '#core/access/keys/key-uses.ts'
import { replayJobs } from '#core/submission/replay/replay-job.ts'
import { within } from '#store/tuple.ts'
import type { Operation } from '../../../../admin-api/operation/operation.ts'
import type { RestAnswer } from '../../../support/daemon/rest.ts'
import { ask, installationOf, requestOf, type Installation } from '../fixture/one-of-everything.ts'
import { beyond } from '../fixture/beyond-roles.ts'
import { baseUrl } from '../fixture/rest-fixture.ts'
import { sessionOf } from '../fixture/sessions.ts'

type Headers = Readonly<Record<string, string>>

interface Browser {
  readonly userId: string
  readonly cookie: string
  /** Calls the operation as a script of the dashboard does. `headers` replace the script's headers. */
  ask(operation: Operation<never>, headers?: Headers): Promise<RestAnswer>
}

/** Signs in a new member with the role. */
async function browserOf(installation: Installation, role: Role): Promise<Browser> {
  const { addMember, client } = installation
  const userId = await addMember(`${role}@example.ch`, role)
  const cookie = await sessionOf(installation, userId)
  const rest = client('')
  return {
    ...{ userId, cookie },
    ask(operation, headers = { 'sec-fetch-site': 'same-origin' }) {
      const request = requestOf(installation, operation)
      return ask(rest, operation, { ...request, headers: { ...request.headers, authorization: '', cookie, ...headers } })
    },
  }
}

/** Operations that need a caller. All of them accept sessions, except the operator's. */
const asked = ({ walk }: Installation): readonly Operation<never>[] => walk.filter(({ scope }) => scope !== 'none' && scope !== 'operator')

/** Returns the rows of the organization, except the last use of its keys and running background jobs. */
async function rowsOf({ daemon, database, organizationId }: Installation): Promise<ReadonlyMap<string, string>> {
  await daemon.settled()
  const rows = new Map<string, string>()
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')
  for await (const { key, value } of database.kv.range(within([organizationId])))
    if (![keyUses, replayJobs].some(({ name }) => text(key).includes(name))) rows.set(text(key), text(value))
  return rows
}

/** Returns the keys of rows that changed. */
async function changedSince(installation: Installation, before: ReadonlyMap<string, string>): Promise<string[]> {
  const now = await rowsOf(installation)
  return [...new Set([...before.keys(), ...now.keys()])].filter((key) => now.get(key) !== before.get(key))
}

async function assertUnchanged(t: ExecutionContext, installation: Installation, before: ReadonlyMap<string, string>, what: string) {
  t.deepEqual(await changedSince(installation, before), [], what)
}

/** Returns the outcome of a request, and the keys of the rows that it changed if it was refused. */
async function changedByEach(installation: Installation, asking: () => Promise<RestAnswer>): Promise<readonly [string, string[]]> {
  const before = await rowsOf(installation)
  const outcome = outcomeOf(await asking())
  return [outcome, outcome === 'done' ? [] : await changedSince(installation, before)]
}

const outcomeOf = ({ status, body, bytes }: RestAnswer): string =>
  status < 400 ? 'done' : `${status} ${(body as { error?: { code: string } } | undefined)?.error?.code ?? bytes.toString()}`

for (const role of roles) {
  test(`a session with the role ${role} may do only what the role allows`, async (t) => {
    const installation = await installationOf(t)
    const browser = await browserOf(installation, role)
    const [refused, open]: [string[], string[]] = [[], []]
    const headers = { 'sec-fetch-site': 'same-origin', 'x-organization-id': installation.organizationId } // who creates a team has two
    for (const operation of asked(installation)) {
      const { operationId, scope, openToBilling = false } = operation
      if (openToBilling) open.push(operationId)
      const isOfScope = role === 'billing' ? openToBilling : role === 'viewer' ? scope === 'api:read' : true
      const [outcome, changed] = await changedByEach(installation, () => browser.ask(operation, headers))
      if (isOfScope && outcome === 'done') continue
      t.regex(outcome, isOfScope ? /^(?:403 insufficient_scope|404 not_found)$/ : /^403 insufficient_scope$/, operationId)
      if (isOfScope) refused.push(outcome.startsWith('404') ? `${operationId}, as if it were not there` : operationId)
      t.deepEqual(changed, [], operationId)
    }
    t.deepEqual(refused.toSorted(), beyond[role].toSorted())
    t.deepEqual(open.toSorted(), [
      'getCredits',
      'getFinding',
      'getInvoice',
      'getMailChoices',
      'getOrganization',
      'getUsage',
      'listCreditEntries',
      'listFindings',
      'listInvoices',
      'listPlans',
      'previewInvoice',
      'updateMailChoices',
    ])
  })
}

const otherSites: Readonly<Record<string, Headers>> = {
  'a page of another site': { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
  'a page of another site that names our origin': { 'sec-fetch-site': 'cross-site', origin: baseUrl },
  'a page of a neighbouring host': { 'sec-fetch-site': 'same-site', origin: 'https://www.example.ch' },
  'an old browser on another site': { origin: 'https://evil.example' },
  'an old browser on a neighbouring host': { origin: 'https://www.example.ch' },
  'a sandboxed frame': { origin: 'null' },
  'a browser without Origin and Fetch Metadata': {},
  'the address bar': { 'sec-fetch-site': 'none' },
}

test('pages of other sites change nothing with the session of a visitor', async (t) => {
  const installation = await installationOf(t)
  const browser = await browserOf(installation, 'owner')
  const before = await rowsOf(installation)
  const changing = asked(installation).filter(({ method }) => method !== 'GET')
  for (const operation of changing) {
    for (const [what, headers] of Object.entries(otherSites))
      for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
        const answer = await browser.ask(operation, { ...headers, 'content-type': type, 'x-http-method-override': 'GET' })
        t.is(outcomeOf(answer), '403 insufficient_scope', `${operation.operationId}, ${what}, ${type}`)
      }
  }
  await assertUnchanged(t, installation, before, 'all of them')
  for (const method of ['x-http-method-override', 'x-method-override', 'x-http-method'])
    for (const operation of asked(installation).filter(({ method }) => method === 'GET'))
      await browser.ask(operation, { 'sec-fetch-site': 'cross-site', [method]: 'DELETE' })
  await assertUnchanged(t, installation, before, 'reading, with another method in a header')
})

test('GET requests with a session change nothing', async (t) => {
  const installation = await installationOf(t)
  const browser = await browserOf(installation, 'owner')
  const before = await rowsOf(installation)
  for (const operation of asked(installation).filter(({ method }) => method === 'GET')) {
    t.is(outcomeOf(await browser.ask(operation, { 'sec-fetch-site': 'cross-site' })), 'done', operation.operationId)
    await assertUnchanged(t, installation, before, operation.operationId)
  }
})

test('an ended session and the session of a removed member are refused', async (t) => {
  const installation = await installationOf(t)
  const { database, organizationId, people } = installation
  const [removed, signedOut] = [await browserOf(installation, 'admin'), await browserOf(installation, 'developer')]
  const stored = await database.get(members, { organizationId }, removed.userId)
  if (!stored) throw new Error('the member is missing')
  t.is(outcomeOf(await removed.ask(known(installation, 'listTraces'))), 'done')
  await database.commit(new Change().remove(members, organizationId, stored))
  await people.sessions.revokeOthers(signedOut.userId, '')
  const before = await rowsOf(installation)
  for (const operation of asked(installation)) {
    t.is(outcomeOf(await removed.ask(operation)), '403 insufficient_scope', operation.operationId)
    t.is(outcomeOf(await removed.ask(operation, { 'sec-fetch-site': 'same-origin', 'x-organization-id': organizationId })), '404 not_found')
    t.is(outcomeOf(await signedOut.ask(operation)), '401 unauthorized', operation.operationId)
  }
  await assertUnchanged(t, installation, before, 'all of them')
})

const known = ({ walk }: Installation, id: string): Operation<never> => {
  const found = walk.find(({ operationId }) => operationId === id)
  if (!found) throw new Error(`no operation ${id}`)
  return found
}

/** Operations that create keys or logins, change membership, or delete several resources. */
const confirmed = [
  ...['createApiKey', 'updateApiKey', 'rotateApiKey', 'createSmtpCredential', 'rotateSmtpCredential'],
  ...['createPublishableKey', 'rotatePublishableKey', 'createInvitation', 'resendInvitation', 'updateMember', 'deleteMember'],
  ...['createOrganization', 'deleteOrganization', 'deleteProject'],
]

test('operations that grant access or delete much need a sign-in within ten minutes', async (t) => {
  const installation = await installationOf(t)
  const browser = await browserOf(installation, 'owner')
  installation.clock.advance(10 * 60_000)
  const asks: string[] = []
  for (const operation of asked(installation)) {
    const answer = await browser.ask(operation)
    if (answer.status === 401) asks.push(operation.operationId)
    else t.true(answer.status < 500, operation.operationId)
  }
  t.deepEqual(asks.toSorted(), confirmed.toSorted())
})

test('operator operations and operations without a key refuse sessions', async (t) => {
  const { operations } = await installationOf(t)
  const taking = operations.filter(({ credentials = [] }) => credentials.some((each) => each !== 'bearer' && each.kind === 'session'))
  t.deepEqual(
    taking.filter(({ scope, path }) => scope === 'none' || scope === 'operator' || !path.startsWith('/v1/')).map(({ path }) => path),
    [],
  )
  t.true(taking.length > 100, `${taking.length} operations`)
})
