/** Permissions on sending domains: every operation of the resource, with every kind of caller. */
import test from '#test'
import { roles } from '#core/access/principal/role.ts'
import { sendingDomains } from '#core/domains/sending-domain.ts'
import { startMcp } from '../../mcp/mcp-fixture.ts'
import { addDestination, objectOf } from '../fixture/rest-fixture.ts'
import { sessionOf } from '../fixture/sessions.ts'

type Ask = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown) => Promise<{ readonly status: number; readonly body: object }>

test('sending domains: only administrators change and verify them; others read the result', async (t) => {
  const fixture = await startMcp(t)
  const { rest, client, addMember, addProject, records, database, organizationId, signIn, setRole } = fixture
  const asking =
    (key: string, headers: Readonly<Record<string, string>> = {}): Ask =>
    async (method, path, body) => {
      const answer = await client(key).call(method, path, body, headers)
      return { status: answer.status, body: answer.status === 204 ? {} : objectOf(answer) }
    }
  const keyOf = async (scopes: readonly string[], more = {}): Promise<Ask> =>
    asking(String((await rest.must('POST', '/v1/api-keys', { name: 'x', scopes, ...more }))['key']))
  const project_id = await addProject()
  const callers: Record<string, Ask> = {
    'key of the organization': await keyOf(['api:admin']),
    'key of one project': await keyOf(['api:admin'], { project_id }),
    'key that reads': await keyOf(['api:read']),
    'token of an administrator': asking(String((await signIn({ scope: 'api:read api:send api:admin' }))['access_token'])),
  }
  for (const role of roles) {
    const cookie = await sessionOf(fixture, await addMember(`${role}@example.ch`, role))
    callers[role] = asking('', { authorization: '', cookie, 'sec-fetch-site': 'same-origin' })
  }
  const stored = async () => (await database.all(sendingDomains, { organizationId })).map(({ record, version }) => [record, version])
  const administrators = new Set(['key of the organization', 'owner', 'admin'])
  const destination = await addDestination(rest)

  for (const [caller, ask] of Object.entries(callers)) {
    const domain = `${caller.replaceAll(' ', '-')}.example.ch`
    const { id, records: expected } = (await rest.must('POST', '/v1/domains', { domain })) as {
      id: string
      records: { purpose: string; name: string; expected: string }[]
    }
    for (const { purpose, name, expected: value } of expected) if (purpose === 'dkim') records.txt.set(name, [value])
    const path = `/v1/domains/${id}`
    const [administers, reads] = [administrators.has(caller), caller !== 'billing']
    for (const where of ['/v1/domains', path, `${path}/records`])
      t.is((await ask('GET', where)).status, reads ? 200 : 403, `${caller}: ${where}`)

    const before = await stored()
    const { looked } = records
    const verified = await ask('POST', `${path}/verify`)
    const mayAsk = reads && caller !== 'viewer' && caller !== 'key that reads'
    t.is(verified.status, mayAsk ? 200 : 403, `${caller} requests a lookup`)
    if (mayAsk) t.like(verified.body, { status: administers ? 'verified' : 'pending' }, caller)
    if (mayAsk && !administers) t.like(verified.body, { checked_at: null }, caller)
    const created = await ask('POST', '/v1/domains', { domain: `new.${domain}` })
    t.is(created.status, administers ? 201 : 403, `${caller} creates`)
    t.is((await ask('POST', `${path}/rotate-dkim`)).status, administers ? 200 : 403, `${caller} rotates`)
    if (mayAsk && caller !== 'key of one project') await ask('POST', `/v1/destinations/${destination}/evidence`, {})
    if (!administers) {
      t.deepEqual(await stored(), before, `${caller} changed a domain`)
      t.is(records.looked, looked, `${caller} caused a lookup`)
    }
    t.is((await ask('DELETE', path)).status, administers ? 204 : 403, `${caller} deletes`)
  }

  const { id } = await rest.must('POST', '/v1/domains', { domain: 'agent.example.ch' })
  await setRole('developer')
  const agent = await fixture.agent()
  t.like(await agent.must('email_domain_verify_status', { domain: 'agent.example.ch' }), { found: true, domain: { checked_at: null } })
  t.is(
    (await agent.refused('email_domain_verify_records', { domain: 'other.example.ch', destination_id: destination })).code,
    'insufficient_scope',
  )
  t.like(await rest.must('GET', `/v1/domains/${String(id)}`), { status: 'pending', checked_at: null })
})
