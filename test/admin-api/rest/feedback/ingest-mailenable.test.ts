/** Posts of a MailEnable agent, and the project that each of them is assigned to. */
import test from '#test'
import {
  addSampleSource,
  addSource,
  post,
  postSigned,
  returnPathOf,
  sample,
  sampleJson,
  sampleSignature,
  sentMessage,
  traceOf,
} from '../fixture/ingest-posts.ts'
import { startFixture, type Fixture } from '../fixture/rest-fixture.ts'
import { column } from '../../../support/column.ts'

const bounces = '/v1/ingest/mailenable'
const activity = '/v1/ingest/activity-logs?source=mailenable'
const mappings = '/v1/mailenable/postoffice-mappings'

const map = (fixture: Fixture, sourceId: string, name: string, more: object = {}): Promise<Readonly<Record<string, unknown>>> =>
  fixture.rest.must('POST', mappings, { bounce_source_config_id: sourceId, postoffice_name: name, ...more })

const resultsOf = (body: Record<string, unknown>): string[] => (body['events'] as { result: string }[]).map(({ result }) => result)

test('without a mapping, events belong to the organization; repetitions add nothing', async (t) => {
  const fixture = await startFixture(t)
  const source = await addSampleSource(fixture, 'mailenable')
  const give = () => {
    const name = 'mailenable-bounce-envelope.json'
    return post(fixture, `${bounces}?source_id=${source.id}`, sample(name), sampleSignature(name))
  }
  const project = String((await fixture.rest.must('GET', '/v1/projects/me'))['project_id'])
  const first = await give()
  t.like(first, { status: 202, body: { accepted: 2, duplicates: 0, dropped: 0, invalid: 0 } })
  t.deepEqual((first.body['events'] as object[])[1], {
    ...{ event_id: 'me-77b1c07f1f0f4f21', result: 'recorded', project_id: project, trace_id: null },
  })
  t.like(await give(), { status: 202, body: { accepted: 0, duplicates: 2 } })
})

test('with a mapping, events of other postoffices are dropped and counted by name', async (t) => {
  const fixture = await startFixture(t)
  const source = await addSampleSource(fixture, 'mailenable')
  await map(fixture, source.id, 'EXAMPLE.com')
  const answer = await postSigned(fixture, bounces, source, sample('mailenable-bounce-envelope.json'))
  t.like(answer, { status: 202, body: { accepted: 1, dropped: 1 } })
  t.deepEqual(resultsOf(answer.body), ['recorded', 'dropped_unmapped_postoffice'])
  const shown = await fixture.rest.must('GET', `/v1/ingest-sources/${source.id}`)
  t.like((shown['dropped_postoffices'] as object[])[0], { postoffice: 'Customer-B', events: 1 })
  await map(fixture, source.id, 'customer-b')
  const after = await fixture.rest.must('GET', `/v1/ingest-sources/${source.id}`)
  t.deepEqual(after['dropped_postoffices'], [])
  t.deepEqual(resultsOf((await postSigned(fixture, bounces, source, sample('mailenable-bounce-envelope.json'))).body), [
    'duplicate',
    'recorded',
  ])
})

test('mapping of a deleted project: events of its postoffice are still dropped', async (t) => {
  const fixture = await startFixture(t)
  const source = await addSource(fixture, 'mailenable')
  const project = String((await fixture.rest.must('POST', '/v1/projects', { name: 'Tenant' }))['id'])
  await map(fixture, source.id, 'example.com', { project_id: project })
  t.is((await fixture.rest.call('DELETE', `/v1/projects/${project}`)).status, 204)
  await fixture.removals.idle()
  const answer = await postSigned(fixture, bounces, source, sample('mailenable-bounce-envelope.json'))
  t.deepEqual(resultsOf(answer.body), ['dropped_unmapped_postoffice', 'dropped_unmapped_postoffice'])
  const health = await postSigned(fixture, `${bounces}/healthcheck`, source, sample('mailenable-healthcheck.json'))
  t.like(health, { status: 200, body: { ok: true, multi_tenant: true, postoffices: ['example.com'], nonce: '5f1c0e6f0e9b4c2d' } })
})

test("mapping: events of a tenant's postoffice match no traces of other projects", async (t) => {
  const fixture = await startFixture(t)
  const source = await addSource(fixture, 'mailenable')
  const project = String((await fixture.rest.must('POST', '/v1/projects', { name: 'Tenant' }))['id'])
  await map(fixture, source.id, 'example.com', { project_id: project })
  const trace = await sentMessage(fixture, ['nobody@example.net'])
  const event = {
    postoffice: 'example.com',
    recipient: 'nobody@example.net',
    envelope_from: returnPathOf(trace),
    diagnostic: '550 5.1.1 x',
  }
  const answer = await postSigned(fixture, bounces, source, { version: 1, events: [{ ...event, event_id: 'one' }] })
  t.like((answer.body['events'] as object[])[0], { result: 'recorded', project_id: project, trace_id: null })
  t.is((await traceOf(fixture, trace))['status'], 'sent')
})

test('a bounce matches its message by return path, by Message-ID, and by the notice', async (t) => {
  const fixture = await startFixture(t)
  const source = await addSource(fixture, 'mailenable')
  const byPath = await sentMessage(fixture, ['nobody@example.net'])
  const byId = await sentMessage(fixture, ['nobody@example.net'])
  const byNotice = await sentMessage(fixture, ['info@example.org'])
  const raw = sample('mailenable-ndr.eml').toString().replaceAll('sales@example.com', returnPathOf(byNotice))
  const common = { postoffice: 'example.com', diagnostic: '550 5.1.1 unknown', type: 'bounce' }
  const events = [
    { ...common, recipient: 'nobody@example.net', envelope_from: returnPathOf(byPath) },
    { ...common, event_id: 'two', recipient: 'nobody@example.net', message_id: `<${byId.messageId}>` },
    { postoffice: 'example.com', raw_ndr: Buffer.from(raw).toString('base64'), envelope_from: returnPathOf(byNotice) },
    { postoffice: 'example.com' },
  ]
  const answer = await postSigned(fixture, bounces, source, { version: 1, events })
  t.like(answer, { status: 202, body: { accepted: 3, invalid: 1 } })
  t.deepEqual(column(answer.body['events'] as { trace_id: string | null }[], 'trace_id'), [byPath.id, byId.id, byNotice.id, null])
  for (const trace of [byPath, byId, byNotice]) t.is((await traceOf(fixture, trace))['status'], 'bounced', trace.id)
})

test('the installation check returns the nonce, records the agent and makes no event', async (t) => {
  const fixture = await startFixture(t)
  const source = await addSampleSource(fixture, 'mailenable')
  const name = 'mailenable-healthcheck.json'
  const answer = await post(fixture, `${bounces}/healthcheck?source_id=${source.id}`, sample(name), sampleSignature(name))
  t.deepEqual(answer, {
    status: 200,
    body: {
      ...{ ok: true, provider: 'mailenable', bounce_source_config_id: source.id, nonce: '5f1c0e6f0e9b4c2d' },
      ...{ server_time: new Date(fixture.clock.now()).toISOString(), clock_skew_seconds: null, multi_tenant: false, postoffices: [] },
    },
  })
  const shown = await fixture.rest.must('GET', `/v1/ingest-sources/${source.id}`)
  t.like(shown, { agent: 'mailenable-agent 1.0.0 (MAIL01)', last_seen_at: new Date(fixture.clock.now()).toISOString() })
})

test('the activity log reports deliveries and counts each refusal once, even if repeated', async (t) => {
  const fixture = await startFixture(t)
  const source = await addSampleSource(fixture, 'mailenable')
  const name = 'mailenable-activity-envelope.json'
  const give = () => post(fixture, `${activity}&source_id=${source.id}`, sample(name), sampleSignature(name))
  t.deepEqual(await give(), {
    status: 202,
    body: { accepted_lines: 14, deliveries: 1, duplicates: 0, metrics: 3, dropped: 0, withheld: 0, rejected: [], cursor: 2252 },
  })
  t.like(await give(), { status: 202, body: { deliveries: 0, duplicates: 1, metrics: 0 } })
  const { refusals } = (await fixture.rest.must('GET', `/v1/ingest-sources/${source.id}`)) as {
    refusals: { count: number; code_class: string }[]
  }
  const sum = (wanted: string): number => refusals.filter((one) => one.code_class === wanted).reduce((all, { count }) => all + count, 0)
  t.deepEqual([sum('5xx'), sum('4xx')], [2, 1])
})

test('refusals in overlapping batches count once, regardless of where the log is cut', async (t) => {
  const fixture = await startFixture(t)
  const source = await addSource(fixture, 'mailenable')
  const { lines, ...rest } = sampleJson('mailenable-activity-envelope.json') as Envelope
  const metrics: unknown[] = []
  for (const part of [lines.slice(0, 9), lines.slice(3), lines.slice(5, 12).toReversed(), lines])
    metrics.push((await postSigned(fixture, activity, source, { ...rest, lines: part })).body['metrics'])
  t.is(
    metrics.reduce((sum: number, count) => sum + Number(count), 0),
    3,
  )
  const { refusals } = (await fixture.rest.must('GET', `/v1/ingest-sources/${source.id}`)) as { refusals: { count: number }[] }
  t.is(
    refusals.reduce((sum, { count }) => sum + count, 0),
    3,
  )
})

interface Envelope {
  readonly lines: readonly { readonly offset: number; readonly line: string }[]
}

test('batches that cut a session at any line, in any order, mark the same message delivered', async (t) => {
  const { lines, ...rest } = sampleJson('mailenable-activity-envelope.json') as Envelope
  for (const cut of [0, 8, 9, 10, 11]) {
    const fixture = await startFixture(t)
    const source = await addSource(fixture, 'mailenable')
    const trace = await sentMessage(fixture, ['somebody@example.net'])
    const ours = lines.map(({ offset, line }) => ({
      offset,
      line: line.replace('b1mzxw6ytb0j3tqnjv8k2d@bounce.example.com', returnPathOf(trace)),
    }))
    let deliveries = 0
    for (const part of [ours.slice(0, cut), ours.slice(cut).toReversed()]) {
      const answer = await postSigned(fixture, activity, source, { ...rest, lines: part })
      t.is(answer.status, 202)
      deliveries += Number(answer.body['deliveries'])
    }
    t.is(deliveries, 1, String(cut))
    t.is((await traceOf(fixture, trace))['status'], 'delivered', String(cut))
  }
})

test('a delivery without our return path matches by recipient, subject and time', async (t) => {
  const fixture = await startFixture(t)
  const source = await addSource(fixture, 'mailenable')
  const trace = await sentMessage(fixture, ['somebody@example.net'])
  const at = new Date(fixture.clock.now() + 60_000)
  const two = (n: number): string => String(n).padStart(2, '0')
  const stamp = `${two(at.getUTCMonth() + 1)}/${two(at.getUTCDate())}/${two(at.getUTCFullYear() % 100)} ${at.toISOString().slice(11, 19)}`
  const line = (subject: string, file: string): string =>
    `${stamp}\tSMTP-OU\t${file}.MAI\t1\t203.0.113.9\tRCPT\tRCPT TO:<somebody@example.net>\t250 2.1.5 Ok\t1\t1\t\t${subject}`
  const give = (text: string) => postSigned(fixture, activity, source, { version: 1, utc_offset_minutes: 0, lines: [text] })
  t.like((await give(line('Something else', 'A'))).body, { deliveries: 1 })
  t.is((await traceOf(fixture, trace))['status'], 'sent')
  t.like((await give(line('Order 123', 'B'))).body, { deliveries: 1 })
  t.is((await traceOf(fixture, trace))['status'], 'delivered')
})

test('with mappings, deliveries without a postoffice count only if the return path matches', async (t) => {
  const fixture = await startFixture(t)
  const source = await addSource(fixture, 'mailenable')
  await map(fixture, source.id, 'example.com')
  const trace = await sentMessage(fixture, ['somebody@example.net'])
  const at = '08/21/26 12:15:01\tSMTP-OU'
  const lines = [
    `${at}\tA.MAI\t1\t203.0.113.9\tMAIL\tMAIL FROM:<${returnPathOf(trace)}>\t250 Ok\t1\t1\t\tOrder 123`,
    `${at}\tA.MAI\t1\t203.0.113.9\tRCPT\tRCPT TO:<somebody@example.net>\t250 Ok\t1\t1\t\tOrder 123`,
    `${at}\tB.MAI\t2\t203.0.113.9\tRCPT\tRCPT TO:<other@example.net>\t250 Ok\t1\t1\t\tOrder 123`,
  ]
  const answer = await postSigned(fixture, activity, source, { version: 1, time_zone: 'UTC', lines })
  t.like(answer.body, { deliveries: 1, dropped: 1 })
  t.is((await traceOf(fixture, trace))['status'], 'delivered')
})

test('postoffice mappings are created once for each MailEnable source, updated and deleted', async (t) => {
  const fixture = await startFixture(t)
  const source = await addSource(fixture, 'mailenable')
  const other = await addSource(fixture, 'arf')
  const project = String((await fixture.rest.must('POST', '/v1/projects', { name: 'Tenant' }))['id'])
  const made = await map(fixture, source.id, ' Customer-A ')
  t.like(made, { postoffice_name: 'Customer-A', bounce_source_config_id: source.id, default_destination_id: null })
  const again = { bounce_source_config_id: source.id, postoffice_name: 'customer-a' }
  t.is((await fixture.rest.call('POST', mappings, again)).status, 409)
  t.is((await fixture.rest.call('POST', mappings, { ...again, bounce_source_config_id: other.id })).status, 400)
  t.is((await fixture.rest.call('POST', mappings, { ...again, bounce_source_config_id: 'src_0' })).status, 404)
  t.is((await fixture.rest.call('POST', mappings, { ...again, postoffice_name: 'B', default_destination_id: 'dst_0' })).status, 400)
  const path = `${mappings}/${String(made['id'])}`
  t.like(await fixture.rest.must('PATCH', path, { project_id: project }), { project_id: project })
  t.is((await fixture.rest.call('PATCH', path, { postoffice_name: 'B' })).status, 400)
  t.like(await fixture.rest.must('GET', path), { project_id: project })
  const { data } = (await fixture.rest.must('GET', `${mappings}?bounce_source_config_id=${source.id}`)) as { data: object[] }
  t.is(data.length, 1)
  t.is((await fixture.rest.call('DELETE', path)).status, 204)
  t.is((await fixture.rest.call('DELETE', path)).status, 204)
  t.is((await fixture.rest.call('GET', path)).status, 404)
  await map(fixture, source.id, 'Customer-A')
  await fixture.rest.call('DELETE', `/v1/ingest-sources/${source.id}`)
  t.deepEqual((await fixture.rest.must('GET', mappings))['data'], [])
})
