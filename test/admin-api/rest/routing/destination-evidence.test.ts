/** Evidence for a promotion: collected on request, stored with the destination, deleted with it. */
import assert from 'node:assert'
import test from '#test'
import { ResolveError } from '#core/outbound/resolver.ts'
import { inspectTests, type InspectTest } from '#core/inspect/inspect-test.ts'
import { destinationEvidence } from '#core/routing/destination-evidence.ts'
import { traces, type Trace } from '#core/trace/trace.ts'
import { Change } from '#store/change.ts'
import { addDestination, errorOf, startFixture } from '../fixture/rest-fixture.ts'

test('evidence is collected without a change of mode, dated, and replaced by the next', async (t) => {
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

test('evidence has the current DNS records, and names failed lookups', async (t) => {
  const { rest, clock, records } = await startFixture(t)
  const id = await addDestination(rest)
  await rest.must('POST', '/v1/domains', { domain: 'example.ch' })
  const dmarc = async (): Promise<string | null | undefined> => {
    const { domains } = (await rest.must('POST', `/v1/destinations/${id}/evidence`)) as unknown as {
      readonly domains: readonly { readonly records: readonly { readonly purpose: string; readonly verdict: string | null }[] }[]
    }
    return domains[0]?.records.find(({ purpose }) => purpose === 'dmarc')?.verdict
  }
  records.txt.set('_dmarc.example.ch', ['v=DMARC1; p=reject'])
  t.is(await dmarc(), 'ok')
  clock.advance(3_600_000)
  records.txt.delete('_dmarc.example.ch')
  t.is(await dmarc(), 'missing')
  clock.advance(3_600_000)
  records.txt.set('_dmarc.example.ch', new ResolveError('timeout', 'late'))
  t.is(await dmarc(), 'error')
})

test('a deliverability test without a score is no evidence', async (t) => {
  const { rest } = await startFixture(t)
  const id = await addDestination(rest)
  const { id: inspect_test_id } = await rest.must('POST', '/v1/inspect/tests', {})
  t.like(errorOf(await rest.call('POST', `/v1/destinations/${id}/evidence`, { inspect_test_id })), { code: 'conflict' })
  t.like(errorOf(await rest.call('POST', `/v1/destinations/${id}/evidence`, { inspect_test_id: 'ins_none' })), { code: 'not_found' })
  t.deepEqual(await rest.must('GET', `/v1/destinations/${id}/evidence`), { evidence: null })
})

test('a test is sent through a sandbox destination; its score becomes evidence on arrival', async (t) => {
  const { rest, clock, daemon, database, organizationId, transport } = await startFixture(t)
  const id = await addDestination(rest, { name: 'Relay' })
  const path = `/v1/destinations/${id}/evidence`
  t.like(errorOf(await rest.call('POST', path, { send_test: true })), { code: 'validation_failed' }, 'without a From')
  const sent = await rest.must('POST', path, { send_test: true, from: 'Shop <shop@example.ch>' })
  const proof = sent['proof'] as { test_id: string; trace_id: string; status: string; at: string }
  t.like(proof, { status: 'waiting', at: new Date(clock.now()).toISOString() })
  t.is(sent['inspect'], null)
  const { address } = await rest.must('GET', `/v1/inspect/tests/${proof.test_id}`)
  const trace = await rest.must('GET', `/v1/traces/${proof.trace_id}`)
  t.like(trace, { outcome: 'relayed', destination_id: id, to: [address], from: 'shop@example.ch' })
  t.regex(String(trace['outcome_reason']), /in sandbox mode, is relayed/)
  await daemon.settled()
  t.deepEqual(transport.attempted, [[address]])
  t.is((await rest.must('GET', `/v1/destinations/${id}`))['mode'], 'sandbox')
  const stored = await database.get(inspectTests, { organizationId }, proof.test_id)
  if (!stored) return t.fail()
  const scored: InspectTest = { ...stored.record, result: { score: 91, grade: 'A' } }
  await database.commit(new Change().replace(inspectTests, organizationId, stored, scored))
  t.like(await rest.must('GET', path), {
    evidence: { inspect: { test_id: proof.test_id, score: 91, grade: 'A' }, proof: { status: 'scored', trace_id: proof.trace_id } },
  })
  t.like(await rest.must('POST', path), { inspect: { score: 91 }, proof: { status: 'scored' } }, 'kept when evidence is collected again')
  const acts = (await rest.must('GET', '/v1/audit?act=destination.test_sent'))['data'] as { details: object }[]
  t.deepEqual(
    acts.map(({ details }) => details),
    [{ trace_id: proof.trace_id, inspect_test_id: proof.test_id }],
  )
})

test('a failed or failed-over test gives no score, and a test needs permission to send', async (t) => {
  const { rest, daemon, database, organizationId } = await startFixture(t)
  const id = await addDestination(rest, { name: 'Relay' })
  const other = await addDestination(rest, { name: 'Other' })
  const path = `/v1/destinations/${id}/evidence`
  const sent = await rest.must('POST', path, { send_test: true, from: 'shop@example.ch' })
  const { trace_id: traceId } = sent['proof'] as { trace_id: string }
  await daemon.settled()
  const change = async (changes: Partial<Trace>): Promise<string> => {
    const stored = await database.get(traces, { organizationId }, traceId)
    assert(stored)
    const next: Trace = { ...stored.record, ...changes }
    t.true((await database.commit(new Change().replace(traces, organizationId, stored, next))).ok)
    return ((await rest.must('GET', path))['evidence'] as { proof: { status: string } }).proof.status
  }
  t.is(await change({ destinationId: other }), 'elsewhere')
  t.is(await change({ destinationId: id, status: 'failed' }), 'failed')
  const { project_id } = await rest.must('GET', '/v1/projects/me')
  await rest.must('PATCH', `/v1/projects/${String(project_id)}`, { send_budget: 1 })
  t.is(errorOf(await rest.call('POST', path, { send_test: true, from: 'shop@example.ch' })).code, 'project_budget_exhausted')
})
