/** Deliverability tests over REST: creating, listing, reading, and the report. */
import test from '#test'
import { inspectReportKey, inspectTests, setPendingScore } from '#core/inspect/inspect-test.ts'
import { InspectScoring } from '#core/inspect/scoring.ts'
import { inspectMail } from '#ingest/inspect/score.ts'
import { Change, encode } from '#store/change.ts'
import { letter } from '../../../ingest/inspect/golden.ts'
import { errorOf, startFixture } from '../fixture/rest-fixture.ts'

test('createInspectTest returns an address with its times and report link, and waits', async (t) => {
  const { rest, clock } = await startFixture(t)
  const { status, body } = await rest.call('POST', '/v1/inspect/tests')
  t.is(status, 201)
  const made = body as Record<string, unknown>
  t.like(made, {
    status: 'waiting',
    score: null,
    grade: null,
    received_at: null,
    later_mails: 0,
    expires_at: new Date(clock.now() + 86_400_000).toISOString(),
  })
  t.regex(String(made['address']), /^[a-z2-7]{26}@in\.example\.ch$/)
  t.regex(String(made['report_url']), /^https:\/\/post\.example\.ch\/share\/inspect\/[a-z2-7]{26}$/)
  t.not(String(made['report_url']).slice(-26), String(made['address']).slice(0, 26))
  const read = await rest.must('GET', `/v1/inspect/tests/${String(made['id'])}`)
  t.like(read, { ...made, checks: [], requirements: [], caps: [], mail: null })
  clock.advance(86_400_000)
  t.is((await rest.must('GET', `/v1/inspect/tests/${String(made['id'])}`))['status'], 'expired')
})

test('a report without DNS results lists the checks that could not run', async (t) => {
  const { rest, database, organizationId, daemon, clock } = await startFixture(t)
  const { id } = await rest.must('POST', '/v1/inspect/tests', {})
  const input = await letter()
  const silent = () => Promise.reject(Object.assign(new Error('silent'), { code: 'ETIMEOUT' }))
  const stored = await database.get(inspectTests, { organizationId }, String(id))
  if (!stored) throw new Error('no test')
  const path = `/v1/inspect/tests/${String(id)}`
  const told = async (resolve: typeof input.resolve): Promise<Record<string, unknown>> => {
    const report = await inspectMail({ ...input, resolve })
    await database.commit(setPendingScore(new Change(), organizationId, String(id), 0))
    const content = { id: 'inm_1', size: 0, sha256: '', rows: 0 }
    const now = await database.get(inspectTests, { organizationId }, String(id))
    if (!now) throw new Error('no test')
    await database.commit(
      new Change().replace(inspectTests, organizationId, now, { ...now.record, mail: { session: input.session, content } }),
    )
    const scorer = { score: async () => ({ ok: true as const, report }), [Symbol.asyncDispose]: async () => {} }
    const scoring = new InspectScoring({ database, clock, scorer, onError: (error) => t.fail(String(error)) })
    scoring.wake()
    await daemon.settled()
    await scoring.stop()
    return rest.must('GET', path)
  }
  t.like(await rest.must('GET', path), { partial: null, unanswered_checks: [] })
  const lost = await told(silent)
  t.like(lost, { status: 'ready', partial: true })
  for (const check of ['spf', 'dkim', 'dmarc']) t.true((lost['unanswered_checks'] as string[]).includes(check))
  const { data } = (await rest.must('GET', '/v1/inspect/tests')) as { data: object[] }
  t.like(data[0], { partial: true })
  t.like(await told(input.resolve), { status: 'ready', partial: false, unanswered_checks: [] })
})

test('the report has all checks with evidence, fix and references', async (t) => {
  const { rest, database, organizationId } = await startFixture(t)
  const { id } = await rest.must('POST', '/v1/inspect/tests', {})
  const stored = await database.get(inspectTests, { organizationId }, String(id))
  const input = await letter({ sign: () => '' })
  const report = await inspectMail(input)
  const { score, grade } = report
  const content = { id: 'inm_1', size: 1, sha256: '', rows: 1 }
  const change = new Change().set(inspectReportKey(organizationId, String(id)), encode(report))
  if (stored)
    change.replace(inspectTests, organizationId, stored, {
      ...stored.record,
      mail: { session: input.session, content },
      result: { score, grade },
    })
  t.true((await database.commit(change)).ok)
  const read = await rest.must('GET', `/v1/inspect/tests/${String(id)}`)
  t.like(read, { status: 'ready', score, score_10: score / 10, grade, mail: { subject: 'Your order 1042 is on its way' } })
  const checks = read['checks'] as Record<string, unknown>[]
  t.is(checks.length, 17)
  t.deepEqual(Object.keys(checks[0] ?? {}).toSorted(), [
    'evidence',
    'fix',
    'fix_said',
    'group',
    'id',
    'max',
    'points',
    'references',
    'status',
    'summary',
    'summary_said',
    'title',
  ])
  t.like(checks[1], { id: 'dkim', status: 'fail', points: 0, max: 10, summary: 'The mail is not signed.' })
  t.like(checks[1], { summary_said: [{ code: 'dkim_unsigned', values: {} }], fix_said: [{ code: 'fix_dkim_sign' }] })
  const looked = { label: 'Domain', label_said: { code: 'evidence_domain' }, value: 'shop.example.com', value_said: null }
  t.like(checks[0], { evidence: [looked] })
  t.is((read['requirements'] as unknown[]).length, 11)
  t.deepEqual(read['caps'], [])
})

test('tests are listed newest first, by project too', async (t) => {
  const fixture = await startFixture(t)
  const other = await fixture.addProject()
  const ids: unknown[] = []
  for (const body of [{}, { project_id: other }, {}]) ids.unshift((await fixture.rest.must('POST', '/v1/inspect/tests', body))['id'])
  const listed = async (path: string): Promise<unknown[]> => {
    const found: unknown[] = []
    for await (const row of fixture.rest.rows(path, 2)) found.push(row['id'])
    return found
  }
  t.deepEqual(await listed('/v1/inspect/tests'), ids)
  t.deepEqual(await listed(`/v1/inspect/tests?project=${other}`), [ids[1]])
})

test('createInspectTest needs write access and a configured domain', async (t) => {
  const fixture = await startFixture(t)
  t.is(errorOf(await (await fixture.withKey(['api:read'])).call('POST', '/v1/inspect/tests', {})).code, 'insufficient_scope')
  const homeless = await startFixture(t, { bounceDomain: null })
  t.is(errorOf(await homeless.rest.call('POST', '/v1/inspect/tests', {})).code, 'feature_disabled')
})
