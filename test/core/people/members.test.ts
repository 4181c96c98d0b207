/** Roles and their current permissions; an organization never loses its last owner. */
import test, { type ExecutionContext } from '#test'
import { apiKeys } from '#core/access/keys/api-key.ts'
import { roles } from '#core/access/principal/role.ts'
import { Refusal, type RefusalCode } from '#core/refusals.ts'
import { organizationId, principal as keyScope } from '../core-fixture.ts'
import { peopleFixture } from './people-fixture.ts'
import { column } from '../../support/column.ts'

const refusedWith = async (t: ExecutionContext, code: RefusalCode, work: Promise<unknown>): Promise<void> => {
  const error = await t.throwsAsync(work, { instanceOf: Refusal })
  t.is(error.code, code, error.message)
}

test('each role has its scopes, and a non-member has no access', async (t) => {
  const { members, member } = await peopleFixture(t)
  const table: Record<string, unknown> = {}
  for (const role of roles) {
    const { id } = await member(`${role}@example.ch`, role)
    const found = await members.scopesOfMember(organizationId, id)
    table[role] = [found?.scopes, found?.administersOrganization, found?.seesBilling, found?.owns]
  }
  t.deepEqual(table, {
    owner: [['api:admin'], true, true, true],
    admin: [['api:admin'], true, true, false],
    developer: [['api:admin'], false, false, false],
    viewer: [['api:read'], false, false, false],
    billing: [[], false, true, false],
  })
  t.is(await members.scopesOfMember(organizationId, 'usr_none'), undefined)
  t.is(await members.scopesOfMember('org_other', 'usr_none'), undefined)
})

test('role changes and removals take effect immediately, and the member is notified', async (t) => {
  const { members, member, mails, acts } = await peopleFixture(t)
  const [olga, ben] = [await member('olga@example.ch', 'owner'), await member('ben@example.ch', 'admin')]
  const principal = await members.principalOf(olga.id, organizationId)
  t.deepEqual((await members.scopesOfMember(organizationId, ben.id))?.scopes, ['api:admin'])
  await members.changeRole(principal, ben.id, 'viewer')
  t.deepEqual((await members.scopesOfMember(organizationId, ben.id))?.scopes, ['api:read'])
  await members.remove(principal, ben.id)
  t.is(await members.scopesOfMember(organizationId, ben.id), undefined)
  await refusedWith(t, 'not_found', members.principalOf(ben.id, organizationId))
  const told = (await mails()).map(({ trace }) => `${trace.recipients[0]?.address}: ${trace.subject}`).toSorted()
  t.deepEqual(told, ['ben@example.ch: You are no longer a member of Acme', 'ben@example.ch: Your role in Acme is now viewer'])
  t.deepEqual(await acts(), ['user member.removed', 'user member.role_changed'])
})

test('the last owner cannot leave, be demoted or be removed', async (t) => {
  const { members, member } = await peopleFixture(t)
  const olga = await member('olga@example.ch', 'owner')
  const principal = await members.principalOf(olga.id, organizationId)
  await refusedWith(t, 'conflict', members.remove(principal, olga.id))
  await refusedWith(t, 'conflict', members.changeRole(principal, olga.id, 'admin'))
  const ben = await member('ben@example.ch', 'owner')
  await members.remove(principal, olga.id)
  t.truthy(await members.scopesOfMember(organizationId, ben.id))
})

test('of two owners who leave at the same time, one remains', async (t) => {
  const { members, member } = await peopleFixture(t)
  const both = [await member('a@example.ch', 'owner'), await member('b@example.ch', 'owner')]
  const left = await Promise.allSettled(both.map(async ({ id }) => members.remove(await members.principalOf(id, organizationId), id)))
  t.deepEqual(left.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
})

test('only owners add and remove owners; administrators and keys cannot', async (t) => {
  const { members, member } = await peopleFixture(t)
  const olga = await member('olga@example.ch', 'owner')
  const adam = await member('adam@example.ch', 'admin')
  const ben = await member('ben@example.ch', 'viewer')
  for (const principal of [await members.principalOf(adam.id, organizationId), keyScope]) {
    await refusedWith(t, 'insufficient_scope', members.changeRole(principal, ben.id, 'owner'))
    await refusedWith(t, 'insufficient_scope', members.changeRole(principal, olga.id, 'viewer'))
    await refusedWith(t, 'insufficient_scope', members.remove(principal, olga.id))
    await refusedWith(t, 'insufficient_scope', members.transferOwnership(principal, ben.id))
    t.is((await members.changeRole(principal, ben.id, 'developer')).member.role, 'developer')
  }
})

test('ownership is transferred in one step', async (t) => {
  const { members, member, acts } = await peopleFixture(t)
  const [olga, ben] = [await member('olga@example.ch', 'owner'), await member('ben@example.ch', 'viewer')]
  const principal = await members.principalOf(olga.id, organizationId)
  await refusedWith(t, 'conflict', members.transferOwnership(principal, olga.id))
  await members.transferOwnership(principal, ben.id)
  const all = await members.list(principal)
  t.deepEqual(
    all.map(({ user, member: { role } }) => [user.email, role]),
    [
      ['olga@example.ch', 'admin'],
      ['ben@example.ch', 'owner'],
    ],
  )
  t.deepEqual(await acts(), ['user organization.ownership_transferred'])
})

test('developers and viewers change no organization resources; every member may leave', async (t) => {
  const { members, member, fixture } = await peopleFixture(t)
  await member('olga@example.ch', 'owner')
  const ben = await member('ben@example.ch', 'viewer')
  const { sendingDomains, suppressions } = fixture.core
  for (const role of ['developer', 'viewer', 'billing'] as const) {
    const user = await member(`${role}@example.ch`, role)
    const principal = await members.principalOf(user.id, organizationId)
    await refusedWith(t, 'insufficient_scope', members.changeRole(principal, ben.id, 'developer'))
    await refusedWith(t, 'insufficient_scope', members.remove(principal, ben.id))
    await refusedWith(t, 'insufficient_scope', sendingDomains.create(principal, { domain: 'sender.example.ch', ed25519: false }))
    await refusedWith(t, 'insufficient_scope', suppressions.add(principal, { email: 'x@example.ch' }))
    if (role === 'billing') await refusedWith(t, 'insufficient_scope', members.list(principal))
    else t.is((await members.list(principal)).length, 3)
    await t.notThrowsAsync(members.remove(principal, user.id))
  }
})

test('a developer creates keys of one project only, and reaches no others', async (t) => {
  const { members, member, fixture } = await peopleFixture(t)
  const dev = await member('dev@example.ch', 'developer')
  const principal = await members.principalOf(dev.id, organizationId)
  const { apiKeys: keys } = fixture.core
  const wide = await keys.create(keyScope, { name: 'wide', scopes: ['api:admin'] })
  await refusedWith(t, 'validation_failed', keys.create(principal, { name: 'mine', scopes: ['api:admin'] }))
  const mine = await keys.create(principal, { name: 'mine', scopes: ['api:send'], projectId: 'prj_1' })
  t.deepEqual(column((await keys.list(principal, { limit: 10 })).rows, 'record', 'name'), ['mine'])
  await refusedWith(t, 'not_found', keys.rotate(principal, wide.record.id))
  await refusedWith(t, 'not_found', keys.revoke(principal, wide.record.id))
  await t.notThrowsAsync(keys.revoke(principal, mine.record.id))
  t.is((await fixture.database.all(apiKeys, { organizationId })).length, 3, 'two keys of the test and the key of the operator')
})
