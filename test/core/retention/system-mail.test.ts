/** System mail is deleted after a week, once it is settled. */
import test from '#test'
import { systemOrganizationId } from '#core/routing/policy/system-policy.ts'
import { traces } from '#core/trace/trace.ts'
import { Change } from '#store/change.ts'
import { peopleFixture } from '../people/people-fixture.ts'

const reach = { organizationId: systemOrganizationId }

test('system mail: deleted with its content after seven days, unless queued', async (t) => {
  const { fixture, member, loginLinks, mails } = await peopleFixture(t)
  const { database, clock } = fixture
  await member('ada@example.ch', 'owner')
  await loginLinks.request('ada@example.ch', undefined, '192.0.2.1')
  const [mail] = await mails()
  const retention = fixture.part('retention')
  clock.advance(8 * 24 * 3_600_000)
  t.is(await retention.round(), 0)
  const stored = await database.get(traces, reach, mail?.trace.id ?? '')
  if (!stored) throw new Error('the trace is missing')
  await database.commit(new Change().rewrite(traces, systemOrganizationId, stored, { ...stored.record, status: 'sent' as const }))
  t.is(await retention.round(), 1)
  t.deepEqual(await database.all(traces, reach), [])
  t.deepEqual(await fixture.keys('content'), [])
})
