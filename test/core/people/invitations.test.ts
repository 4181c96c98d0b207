/** Invitations: valid for a week, for one address, once. */
import test, { type ExecutionContext } from '#test'
import { Refusal } from '#core/refusals.ts'
import { invitations as invitationRecords } from '#core/people/members/invitation.ts'
import { organizations } from '#core/tenancy/organization.ts'
import { Change } from '#store/change.ts'
import { globalKey } from '#store/record-kind.ts'
import { within } from '#store/tuple.ts'
import { organizationId, principal } from '../core-fixture.ts'
import { peopleFixture } from './people-fixture.ts'

const code = async (t: ExecutionContext, work: Promise<unknown>): Promise<string> =>
  (await t.throwsAsync(work, { instanceOf: Refusal })).code

test('an invitation is mailed, shown and accepted once, by the invited address only', async (t) => {
  const { invitations, members, member, mails, acts, fixture } = await peopleFixture(t)
  const other = { ...(await member('other@example.ch', 'viewer')) }
  const made = await invitations.create(principal, { email: 'Ben@Example.CH', role: 'developer' })
  t.is(made.email, 'ben@example.ch')
  const [mail] = await mails()
  t.is(mail?.trace.subject, 'Invitation to Acme')
  const view = await invitations.look(mail?.secret ?? '')
  t.like(view, { organization: { name: 'Acme' }, invitation: { role: 'developer' } })
  t.false(JSON.stringify((await fixture.database.all(invitationRecords, { organizationId }))[0]?.record).includes(mail?.secret ?? 'x'))
  t.is(await code(t, invitations.accept(other, organizationId, made.id)), 'not_found')
  t.is((await invitations.forAddress('other@example.ch')).length, 0)
  t.is((await invitations.forAddress('ben@example.ch')).length, 1)

  const ben = { ...other, id: `usr_${'b'.repeat(32)}`, email: 'ben@example.ch' }
  await invitations.accept(ben, organizationId, made.id)
  t.deepEqual((await members.scopesOfMember(organizationId, ben.id))?.scopes, ['api:admin'])
  t.is(await code(t, invitations.accept(ben, organizationId, made.id)), 'not_found')
  t.is(await code(t, invitations.look(mail?.secret ?? '')), 'not_found')
  t.deepEqual(await acts(), ['api_key invitation.created', 'user member.added'])
})

test('an invitation ends after 7 days or by revocation, its old link by resending', async (t) => {
  const { invitations, mails, fixture, acts } = await peopleFixture(t)
  const made = await invitations.create(principal, { email: 'ben@example.ch', role: 'viewer' })
  fixture.clock.advance(7 * 24 * 3_600_000)
  const first = (await mails()).at(-1)?.secret ?? ''
  t.is(await code(t, invitations.look(first)), 'not_found')
  t.deepEqual(await invitations.forAddress('ben@example.ch'), [])
  t.is((await invitations.list(principal, { limit: 10 })).rows.length, 1)
  await invitations.resend(principal, made.id)
  const second = (await mails()).at(-1)?.secret ?? ''
  t.not(second, first)
  t.is((await invitations.look(second)).invitation.id, made.id)
  t.is(await code(t, invitations.look(first)), 'not_found')
  await invitations.revoke(principal, made.id)
  t.is(await code(t, invitations.look(second)), 'not_found')
  t.is(await code(t, invitations.revoke(principal, made.id)), 'not_found')
  t.deepEqual(await acts(), ['api_key invitation.created', 'api_key invitation.resent', 'api_key invitation.revoked'])
})

test('an address has one invitation, and members cannot be invited', async (t) => {
  const { invitations, member } = await peopleFixture(t)
  await member('ada@example.ch', 'viewer')
  await invitations.create(principal, { email: 'ben@example.ch', role: 'viewer' })
  t.is(await code(t, invitations.create(principal, { email: 'BEN@example.ch', role: 'admin' })), 'conflict')
  t.is(await code(t, invitations.create(principal, { email: 'ada@example.ch', role: 'admin' })), 'conflict')
  t.is(await code(t, invitations.create(principal, { email: 'nonsense', role: 'admin' })), 'validation_failed')
})

test('only owners invite owners, and only administrators invite', async (t) => {
  const { invitations, members, member } = await peopleFixture(t)
  const [olga, adam, dev] = [
    await member('o@example.ch', 'owner'),
    await member('a@example.ch', 'admin'),
    await member('d@example.ch', 'developer'),
  ]
  const principalOf = ({ id }: { readonly id: string }) => members.principalOf(id, organizationId)
  t.is(await code(t, invitations.create(await principalOf(adam), { email: 'x@example.ch', role: 'owner' })), 'insufficient_scope')
  t.is(await code(t, invitations.create(principal, { email: 'x@example.ch', role: 'owner' })), 'insufficient_scope')
  t.is(await code(t, invitations.create(await principalOf(dev), { email: 'x@example.ch', role: 'viewer' })), 'insufficient_scope')
  const made = await invitations.create(await principalOf(olga), { email: 'x@example.ch', role: 'owner' })
  t.is(await code(t, invitations.resend(await principalOf(adam), made.id)), 'insufficient_scope')
  const bound = { ...principal, bound: true }
  t.is(await code(t, invitations.create(bound, { email: 'y@example.ch', role: 'viewer' })), 'insufficient_scope')
  t.is(await code(t, invitations.list(bound, { limit: 1 })), 'insufficient_scope')
})

test('invitation mails are limited per hour', async (t) => {
  const { invitations, fixture } = await peopleFixture(t)
  const made = await invitations.create(principal, { email: 'ben@example.ch', role: 'viewer' })
  for (let i = 1; i < 60; i++) await invitations.resend(principal, made.id)
  t.is(await code(t, invitations.resend(principal, made.id)), 'rate_limit_exceeded')
  fixture.clock.advance(3_600_000)
  await t.notThrowsAsync(invitations.resend(principal, made.id))
})

test('the mail of an invitation survives a crash right after creation, and is sent once', async (t) => {
  const { invitations, mails, handing, outbox, background, errors, fixture } = await peopleFixture(t)
  handing.fails = true
  const made = await invitations.create(principal, { email: 'ben@example.ch', role: 'viewer' })
  t.deepEqual(await mails(), [])
  t.is(errors.splice(0).length, 1)
  handing.fails = false
  outbox.wake()
  outbox.wake()
  const [mail, ...more] = await mails()
  t.deepEqual(more, [])
  t.is((await invitations.look(mail?.secret ?? '')).invitation.id, made.id)
  outbox.wake()
  await background.idle()
  t.is((await mails()).length, 1)
  for await (const _ of fixture.database.kv.range(within(globalKey('people.outbox')))) t.fail('a row stays behind')
})

test('invitation: sent once, also if the day changes during the send', async (t) => {
  const { invitations, mails, handing, outbox, background, errors, fixture } = await peopleFixture(t)
  handing.fails = true
  await invitations.create(principal, { email: 'ben@example.ch', role: 'viewer' })
  await background.idle()
  t.is(errors.splice(0).length, 1)
  handing.fails = false
  fixture.kv.beforeWrite = () => {
    fixture.kv.beforeWrite = undefined
    fixture.clock.advance(24 * 3_600_000)
    outbox.wake()
  }
  outbox.wake()
  t.is((await mails()).length, 1)
  t.deepEqual(errors, [])
})

test('a deleted organization accepts no invitation', async (t) => {
  const { invitations, member, mails, fixture } = await peopleFixture(t)
  const ben = await member('ben@example.ch', 'viewer')
  const user = { ...ben, id: `usr_${'c'.repeat(32)}`, email: 'cleo@example.ch' }
  const made = await invitations.create(principal, { email: 'cleo@example.ch', role: 'viewer' })
  const [mail] = await mails()
  const stored = await fixture.database.get(organizations, { organizationId }, organizationId)
  if (!stored) return t.fail()
  const deleted = { ...stored.record, deletedAt: fixture.clock.now() }
  await fixture.database.commit(new Change().replace(organizations, organizationId, stored, deleted))
  t.is(await code(t, invitations.look(mail?.secret ?? '')), 'not_found')
  t.deepEqual(await invitations.forAddress('cleo@example.ch'), [])
  t.is(await code(t, invitations.accept(user, organizationId, made.id)), 'not_found')
})
