/** Members and invitations over REST. */
import test from '#test'
import { auditEntries } from '#core/writes/audit.ts'
import { objectOf, refusal, startFixture } from '../fixture/rest-fixture.ts'
import { column } from '../../../support/column.ts'

test('members are listed, given other roles and removed; keys cannot change owners', async (t) => {
  const { rest, addMember } = await startFixture(t)
  const [olga, ben] = [await addMember('olga@example.ch', 'owner'), await addMember('ben@example.ch', 'viewer')]
  const { data, next_cursor } = await rest.must('GET', '/v1/members')
  t.is(next_cursor, null)
  const rows = data as Record<string, unknown>[]
  t.deepEqual(
    new Map(rows.map(({ email, role }) => [email, role])),
    new Map([
      ['olga@example.ch', 'owner'],
      ['ben@example.ch', 'viewer'],
    ]),
  )
  t.like(await rest.must('PATCH', `/v1/members/${ben}`, { role: 'developer' }), { user_id: ben, role: 'developer', name: '' })
  for (const [id, role] of [
    [ben, 'owner'],
    [olga, 'admin'],
  ])
    t.is(refusal(await rest.call('PATCH', `/v1/members/${id}`, { role }))[1], 'insufficient_scope')
  t.is(refusal(await rest.call('DELETE', `/v1/members/${olga}`))[1], 'insufficient_scope')
  t.deepEqual(await rest.must('DELETE', `/v1/members/${ben}`), { ended_keys: [], kept_keys: [] })
  t.deepEqual(refusal(await rest.call('DELETE', `/v1/members/${ben}`)), [404, 'not_found', 'No member has this id.'])
  t.is((await rest.call('PATCH', `/v1/members/${ben}`, { role: 'emperor' })).status, 400)
})

test('invitations are created, listed and revoked; each has an audit entry with its key', async (t) => {
  const { rest, clock, database, organizationId } = await startFixture(t)
  const made = await rest.call('POST', '/v1/invitations', { email: 'Ada@Example.ch', role: 'developer' })
  t.is(made.status, 201)
  t.like(objectOf(made), { email: 'ada@example.ch', role: 'developer', status: 'open', mailed: false })
  t.regex(String(objectOf(made)['accept_url']), /^https?:\/\/[^/]+\/invitations\/[\w-]{43}$/)
  t.is((await rest.call('POST', '/v1/invitations', { email: 'ada@example.ch', role: 'viewer' })).status, 409)
  clock.advance(7 * 24 * 3_600_000)
  const listed = (await rest.must('GET', '/v1/invitations'))['data'] as Record<string, unknown>[]
  t.false('accept_url' in (listed[0] ?? {}), 'the link is shown once')
  t.deepEqual(column(listed, 'status'), ['expired'])
  t.false(/sha256|token|secret/.test(JSON.stringify(listed)))
  t.is((await rest.call('DELETE', `/v1/invitations/${String(objectOf(made)['id'])}`)).status, 204)
  const acts = (await database.all(auditEntries, { organizationId })).map(({ record: { act, actor } }) => [act, actor.kind, actor.id])
  t.deepEqual(acts, [
    ['invitation.created', 'api_key', 'key_environment'],
    ['invitation.revoked', 'api_key', 'key_environment'],
  ])
})

test('project keys neither see nor change members', async (t) => {
  const { withKey, addProject, addMember } = await startFixture(t)
  const id = await addMember('ben@example.ch', 'viewer')
  const bound = await withKey(['api:admin'], await addProject())
  for (const [method, path, body] of [
    ['GET', '/v1/members'],
    ['GET', '/v1/invitations'],
    ['PATCH', `/v1/members/${id}`, { role: 'admin' }],
    ['DELETE', `/v1/members/${id}`],
    ['POST', '/v1/invitations', { email: 'x@example.ch', role: 'viewer' }],
  ] as const)
    t.is((await bound.call(method, path, body)).status, 403, `${method} ${path}`)
})
