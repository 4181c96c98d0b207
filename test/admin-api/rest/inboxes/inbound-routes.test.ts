/** Inbound routes over REST: patterns on the shared domain, secrets, moves, and deletion with a route. */
import test from '#test'
import { sweepInbound } from '#core/inbound-routes/remove-mail.ts'
import { inboundMessages } from '#core/inbound-routes/inbound-message.ts'
import { inboundRoutes } from '#core/inbound-routes/route.ts'
import { Change } from '#store/change.ts'
import { linkToken } from '#core/inbound-routes/mail-links.ts'
import { SecretBox } from '#core/access/secret-box.ts'
import type { RestAnswer } from '../../../support/daemon/rest.ts'
import { addInboundMail } from '../fixture/inbound-mail.ts'
import { startFixture } from '../fixture/rest-fixture.ts'
import { column } from '../../../support/column.ts'

const webhook_url = 'https://hooks.example.ch/mail'
const errorOf = ({ status, body }: RestAnswer): string => `${status} ${(body as { error: { code: string } }).error.code}`

test('a route is created with its secret shown once, and appears in the audit log', async (t) => {
  const { rest, organizationId, database, clock } = await startFixture(t)
  const made = await rest.must('POST', '/v1/inbound-routes', { local_part_pattern: 'Tickets+*', webhook_url })
  t.regex(String(made['hmac_secret']), /^whsec_/)
  t.like(made, { local_part_pattern: 'tickets+*', webhook_url })
  const path = `/v1/inbound-routes/${String(made['id'])}`
  const read = await rest.must('GET', path)
  t.false('hmac_secret' in read)
  const rotated = await rest.must('POST', `${path}/rotate-secret`)
  t.not(rotated['hmac_secret'], made['hmac_secret'])
  t.is((await rest.must('PATCH', path, { webhook_url: 'https://other.example.ch/' }))['webhook_url'], 'https://other.example.ch/')
  const { data } = (await rest.must('GET', '/v1/inbound-routes')) as { data: Record<string, unknown>[] }
  t.deepEqual(column(data, 'id'), [made['id']])
  await addInboundMail({ database, clock, organizationId }, String(made['id']), String(made['project_id']))
  t.is((await rest.call('DELETE', path)).status, 204)
  t.is((await rest.call('DELETE', path)).status, 204)
  t.deepEqual(await database.all(inboundMessages, { organizationId }), [])
  const acts = ((await rest.must('GET', '/v1/audit'))['data'] as { act?: string; action?: string }[]).map(
    ({ act, action }) => act ?? action,
  )
  t.deepEqual(acts.slice(0, 4), ['inbound_route.deleted', 'inbound_route.updated', 'inbound_route.secret_rotated', 'inbound_route.created'])
})

test('route: a local part belongs to one tenant, the catch-all to the operator', async (t) => {
  const { rest, addOrganization } = await startFixture(t)
  const outsider = (await addOrganization()).rest
  const make = (by: typeof rest, local_part_pattern: string): Promise<RestAnswer> =>
    by.call('POST', '/v1/inbound-routes', { local_part_pattern, webhook_url })
  t.is((await make(rest, 'sales')).status, 201)
  for (const pattern of ['sales', 'SALES', 'sales+*', 'sales+eu', 'sales+eu+*'])
    t.is(errorOf(await make(outsider, pattern)), '409 conflict', pattern)
  t.is(errorOf(await make(rest, 'Sales')), '409 conflict')
  t.is((await make(rest, 'sales+*')).status, 201)
  t.is((await make(outsider, 'salesperson')).status, 201)
  for (const pattern of ['*', 'admin', 'webmaster', 'hostmaster+*', 'security'])
    t.is(errorOf(await make(outsider, pattern)), '400 validation_failed', pattern)
  t.is((await make(rest, '*')).status, 201)
  t.is((await make(rest, 'webmaster')).status, 201)
  const reserved = ['postmaster', 'abuse', 'abuse+*', 'Postmaster', `b${'0'.repeat(21)}`, 'a'.repeat(26), 'srs0=x']
  const malformed = ['', 'a b', 'a@b', '+*', '*+a', 'a*', '**', 'a..b', '.a', 'a+b*', 'x'.repeat(65)]
  for (const pattern of [...reserved, ...malformed]) t.is(errorOf(await make(rest, pattern)), '400 validation_failed', pattern)
  const names = ((await outsider.must('GET', '/v1/inbound-routes'))['data'] as Record<string, unknown>[]).map(
    (row) => row['local_part_pattern'],
  )
  t.deepEqual(names, ['salesperson'])
})

test('of two tenants that request the same name at the same time, one gets it', async (t) => {
  const { rest, addOrganization } = await startFixture(t)
  const outsider = (await addOrganization()).rest
  const bodies = ['tickets', 'tickets+*']
  const answers = await Promise.all(
    [rest, outsider].map((by, at) => by.call('POST', '/v1/inbound-routes', { local_part_pattern: bodies[at], webhook_url })),
  )
  t.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 409],
  )
})

test('a route moves to another project; earlier mail stays in its project', async (t) => {
  const { rest, database, organizationId, clock, withKey } = await startFixture(t)
  const target = String((await rest.must('POST', '/v1/projects', { name: 'Target' }))['id'])
  const { id, project_id } = await rest.must('POST', '/v1/inbound-routes', { local_part_pattern: 'shop', webhook_url })
  const messageId = await addInboundMail({ database, clock, organizationId }, String(id), String(project_id))
  t.is((await rest.must('PATCH', `/v1/inbound-routes/${String(id)}`, { project_id: target }))['project_id'], target)
  const there = await withKey(['api:read'], target)
  t.deepEqual((await there.must('GET', `/v1/inbound-routes/${String(id)}/messages`))['data'], [])
  t.is((await there.call('GET', `/v1/inbound-routes/${String(id)}/messages/${messageId}`)).status, 404)
  t.is((await rest.must('GET', `/v1/inbound-routes/${String(id)}/messages/${messageId}`))['project_id'], project_id)
})

test('signed links download mail and files until they expire, and fail if modified', async (t) => {
  const { rest, database, organizationId, clock, client } = await startFixture(t)
  const { id, project_id } = await rest.must('POST', '/v1/inbound-routes', { local_part_pattern: 'shop', webhook_url })
  const messageId = await addInboundMail({ database, clock, organizationId }, String(id), String(project_id))
  const secrets = new SecretBox(Buffer.alloc(32, 7))
  const expiresAt = clock.now() + 60_000
  const linkTo = (part: 'raw' | number): string => linkToken(secrets, { organizationId, messageId, part, expiresAt })
  const nobody = client('')
  const file = await nobody.call('GET', `/share/inbound/${linkTo(0)}`)
  t.is(file.status, 200)
  t.is(file.bytes.toString(), 'x\r\n')
  t.regex(file.headers['content-disposition'] ?? '', /^attachment; filename="a\.txt"/)
  t.is(file.headers['x-content-type-options'], 'nosniff')
  t.is(file.headers['cache-control'], 'no-store')
  const whole = await nobody.call('GET', `/share/inbound/${linkTo('raw')}`)
  t.is(whole.headers['content-type'], 'message/rfc822')
  t.regex(whole.bytes.toString(), /^Content-Type: text\/plain/)
  t.is((await nobody.call('GET', `/share/inbound/${linkTo(1)}`)).status, 404)
  const token = linkTo('raw')
  for (let at = 0; at < token.length; at++) {
    const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
    t.is((await nobody.call('GET', `/share/inbound/${changed}`)).status, 404, changed)
  }
  clock.advance(60_000)
  t.is((await nobody.call('GET', `/share/inbound/${token}`)).status, 404)
})

test('signed link: invalid after deletion of its route, also during the removal', async (t) => {
  const { rest, database, organizationId, clock, client } = await startFixture(t)
  const { id, project_id } = await rest.must('POST', '/v1/inbound-routes', { local_part_pattern: 'shop', webhook_url })
  const messageId = await addInboundMail({ database, clock, organizationId }, String(id), String(project_id))
  const secrets = new SecretBox(Buffer.alloc(32, 7))
  const token = linkToken(secrets, { organizationId, messageId, part: 'raw', expiresAt: clock.now() + 60_000 })
  const nobody = client('')
  t.is((await nobody.call('GET', `/share/inbound/${token}`)).status, 200)
  const stored = (await database.get(inboundRoutes, { organizationId }, String(id)))!
  await database.commit(new Change().remove(inboundRoutes, organizationId, stored))
  t.is((await nobody.call('GET', `/share/inbound/${token}`)).status, 404)
})

test('route deletion: removes part of its mail at once, and retention removes the rest', async (t) => {
  const { rest, database, organizationId, clock } = await startFixture(t)
  const { id, project_id } = await rest.must('POST', '/v1/inbound-routes', { local_part_pattern: 'shop', webhook_url })
  for (let n = 0; n < 13; n++)
    await Promise.all(
      Array.from({ length: 100 }, () => addInboundMail({ database, clock, organizationId }, String(id), String(project_id))),
    )
  t.is((await rest.call('DELETE', `/v1/inbound-routes/${String(id)}`)).status, 204)
  t.is((await database.all(inboundMessages, { organizationId })).length, 300)
  await sweepInbound({ database, stopping: () => false }, organizationId, { nowMs: 0 })
  t.deepEqual(await database.all(inboundMessages, { organizationId }), [])
})
