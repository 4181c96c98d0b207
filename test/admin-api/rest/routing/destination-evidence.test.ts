/** Evidence for a promotion: found on request, kept with the destination, gone with it. */
import test from 'ava'
import { destinationEvidence } from '#core/routing/destination-evidence.ts'
import { addDestination, errorOf, startFixture } from '../fixture/rest-fixture.ts'

test('evidence is collected without a change of mode, kept with its date, and replaced by the next', async (t) => {
  const { rest, clock, database, organizationId } = await startFixture(t)
  const id = await addDestination(rest, { name: 'Relay' })
  const path = `/v1/destinations/${id}`
  t.deepEqual(await rest.must('GET', `${path}/evidence`), { evidence: null })
  await rest.must('POST', '/v1/domains', { domain: 'example.ch' })
  await rest.must('POST', '/v1/suppressions', { email: 'gone@example.ch' })
  for (const to of ['ada@example.ch', 'gone@example.ch'])
    await rest.must('POST', '/v1/messages', { from: 'shop@example.ch', to, text: 'x', destination_id: id })
  const collected = await rest.must('POST', `${path}/evidence`)
  t.like(collected, {
    destination_id: id,
    at: new Date(clock.now()).toISOString(),
    mode: 'sandbox',
    dry_run: { messages: 2, relayed: 1, suppressed: 1, refused: 0, elsewhere: 0 },
    inspect: null,
  })
  t.is(typeof (collected['probe'] as { ok: boolean }).ok, 'boolean')
  const [domain] = collected['domains'] as { domain: string; records: { purpose: string; verdict: string | null }[] }[]
  t.is(domain?.domain, 'example.ch')
  const purposes = new Set(domain?.records.map(({ purpose }) => purpose))
  for (const purpose of ['dkim', 'dmarc', 'spf']) t.true(purposes.has(purpose), purpose)
  t.deepEqual(await rest.must('GET', `${path}/evidence`), { evidence: collected })
  t.is((await rest.must('GET', path))['mode'], 'sandbox')
  await rest.must('POST', `${path}/promote-to-live`)
  clock.advance(3_600_000)
  t.like(await rest.must('POST', `${path}/evidence`, {}), { mode: 'live', at: new Date(clock.now()).toISOString() })
  t.is((await database.all(destinationEvidence, { organizationId })).length, 1)
  const { data } = await rest.must('GET', '/v1/audit?act=destination.evidence_collected')
  t.is((data as object[]).length, 2)
  await rest.must('DELETE', path)
  t.is((await database.all(destinationEvidence, { organizationId })).length, 0)
})

test('a deliverability test without a score is no evidence', async (t) => {
  const { rest } = await startFixture(t)
  const id = await addDestination(rest)
  const { id: inspect_test_id } = await rest.must('POST', '/v1/inspect/tests', {})
  t.like(errorOf(await rest.call('POST', `/v1/destinations/${id}/evidence`, { inspect_test_id })), { code: 'conflict' })
  t.like(errorOf(await rest.call('POST', `/v1/destinations/${id}/evidence`, { inspect_test_id: 'ins_none' })), { code: 'not_found' })
  t.deepEqual(await rest.must('GET', `/v1/destinations/${id}/evidence`), { evidence: null })
})
