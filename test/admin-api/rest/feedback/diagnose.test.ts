/** Delivery diagnosis over REST: every verdict that needs no delivery attempt, DNS checks, time windows, and visibility. */
import test from '#test'
import { destinations } from '#core/routing/destination.ts'
import { engagements } from '#core/trace/timeline/engagement.ts'
import { traces } from '#core/trace/trace.ts'
import { storedTracesCounter } from '#core/tenancy/counters.ts'
import { Change } from '#store/change.ts'
import { addDestination, refusal, startFixture } from '../fixture/rest-fixture.ts'
import { hour, send, missing, bounce, hypothesesOf, idsOf, rewrite, taken, report } from '../fixture/diagnosed.ts'
import { column } from '../../../support/column.ts'

test('captured mail: the diagnosis names the reason and the call that changes it', async (t) => {
  const { rest } = await startFixture(t)
  const nowhere = await send(rest, 'ada@example.ch')
  const lost = await missing(rest, 'ada@example.ch')
  t.deepEqual([lost['verdict'], lost['confidence'], idsOf(lost)[0]], ['captured', 0.97, 'captured_no_route'])
  t.is(hypothesesOf(lost)[0]?.next_action.tool, 'email_routing_rule_create')
  t.deepEqual(column(lost['traces'] as { trace_id: string }[], 'trace_id'), [nowhere])
  const destination_id = await addDestination(rest)
  await send(rest, 'eva@example.ch', { destination_id })
  const boxed = hypothesesOf(await missing(rest, 'EVA@example.ch'))[0]
  t.is(boxed?.id, 'captured_sandbox_destination')
  t.deepEqual([boxed?.next_action.tool, boxed?.next_action.arguments], ['destination_promote_to_live', { destination_id }])
})

test('a current or future suppression: the diagnosis names the entry to remove', async (t) => {
  const { rest } = await startFixture(t)
  const destination_id = await addDestination(rest, {}, true)
  const entry = async (email: string) => String((await rest.must('POST', '/v1/suppressions', { email, reason: 'asked for it' }))['id'])
  const id = await entry('ada@example.ch')
  await send(rest, 'ada@example.ch', { destination_id })
  const lost = await missing(rest, 'ada@example.ch')
  t.is(lost['verdict'], 'suppressed')
  const [first] = hypothesesOf(lost)
  t.regex(first?.explanation ?? '', /manual: asked for it/)
  t.deepEqual([first?.next_action.tool, first?.next_action.arguments], ['email_suppression_remove', { id }])
  await rest.must('DELETE', `/v1/suppressions/${id}`)
  t.regex(hypothesesOf(await missing(rest, 'ada@example.ch'))[0]?.next_action.text ?? '', /removed since: send the message again/)

  const other = await entry('eva@example.ch')
  const never = await missing(rest, 'eva@example.ch')
  t.is(never['verdict'], 'not_sent')
  t.deepEqual(hypothesesOf(never).find((one) => one.id === 'would_be_suppressed')?.next_action.arguments, { id: other })
})

test('scheduled, canceled and queued mail have different verdicts', async (t) => {
  const { rest, clock } = await startFixture(t)
  const destination_id = await addDestination(rest, {}, true)
  const send_at = new Date(clock.now() + hour).toISOString()
  const id = await send(rest, 'ada@example.ch', { destination_id, send_at })
  const waiting = await missing(rest, 'ada@example.ch')
  t.deepEqual([waiting['verdict'], idsOf(waiting)[0]], ['scheduled', 'scheduled'])
  t.true(String(waiting['summary']).includes(send_at))
  await rest.must('DELETE', `/v1/messages/scheduled/${id}`)
  t.deepEqual(
    [(await missing(rest, 'ada@example.ch'))['verdict'], idsOf(await missing(rest, 'ada@example.ch'))[0]],
    ['not_sent', 'canceled'],
  )
  await send(rest, 'eva@example.ch', { destination_id })
  t.deepEqual(
    [(await missing(rest, 'eva@example.ch'))['verdict'], idsOf(await missing(rest, 'eva@example.ch'))[0]],
    ['in_progress', 'under_way'],
  )
})

test('a paused destination is the reason, with its test as the next step', async (t) => {
  const { rest, health, organizationId, database } = await startFixture(t)
  const destination_id = await addDestination(rest, {}, true)
  await send(rest, 'ada@example.ch', { destination_id })
  const subject = (await database.get(destinations, { organizationId }, destination_id))?.record
  if (!subject) throw new Error('no destination')
  for (let i = 0; i < 5; i++) {
    health.attempting(subject)
    const error = { code: 'connect_refused', message: 'The host refused the connection.', phase: 'connect' }
    health.attempted(organizationId, subject, {
      recipients: [{ address: 'x@y.ch', verdict: 'transient' }],
      host: 'h',
      port: 1,
      reused: false,
      error,
      milliseconds: {},
    })
  }
  const lost = await missing(rest, 'ada@example.ch')
  t.deepEqual([lost['verdict'], idsOf(lost)[0]], ['deferred', 'destination_resting'])
  t.deepEqual(hypothesesOf(lost)[0]?.next_action.arguments, { destination_id })
})

test('no mail: the diagnosis names the last message before the window', async (t) => {
  const { rest, clock } = await startFixture(t)
  await send(rest, 'ada@example.ch')
  const at = new Date(clock.now()).toISOString()
  clock.advance(25 * hour)
  const lost = await missing(rest, 'ada@example.ch')
  t.deepEqual([lost['verdict'], lost['traces']], ['not_sent', []])
  t.true(hypothesesOf(lost)[0]?.explanation.includes(`The last message before that was accepted at ${at}`))
  t.is((await missing(rest, 'ada@example.ch', '26h'))['verdict'], 'captured')
  t.is((await missing(rest, 'ada@example.ch', '2d'))['verdict'], 'captured')
  const from = new Date(clock.now() - 26 * hour).toISOString()
  t.deepEqual((await missing(rest, 'ada@example.ch', `${from}/${at}`))['traces'], [], 'the end is excluded')
  t.deepEqual((await missing(rest, 'ada@example.ch', `${at}/${new Date(clock.now() + hour).toISOString()}`))['window'], {
    from: at,
    to: new Date(clock.now()).toISOString(),
  })
})

test('similar addresses are listed, the closest first', async (t) => {
  const { rest, clock } = await startFixture(t)
  for (const to of ['ada.lovelace@gmial.com', 'ada.lovelase@gmail.com', 'ada.lovelace+shop@gmail.com', 'ada.lovelace@example.org']) {
    clock.advance(1000)
    await send(rest, to)
  }
  const lost = await missing(rest, 'Ada.Lovelace@gmail.com')
  t.is(lost['verdict'], 'not_sent')
  const near = hypothesesOf(lost).filter(({ id }) => id === 'near_miss')
  t.deepEqual(
    near.map(({ next_action }) => next_action.arguments?.['recipient']),
    ['ada.lovelace+shop@gmail.com', 'ada.lovelase@gmail.com', 'ada.lovelace@gmial.com'],
  )
  t.is(hypothesesOf(lost)[0]?.id, 'near_miss')
  t.deepEqual(column(hypothesesOf(lost), 'rank'), [1, 2, 3, 4, 5])
  t.deepEqual(lost['not_checked'], [
    { what: 'Requests that were refused', why: 'They have no trace; check the responses that your application received.' },
  ])
})

test('a project key gets a diagnosis of its project, and a note about the others', async (t) => {
  const { rest, withKey, addProject } = await startFixture(t)
  const project = await addProject()
  await send(rest, 'ada.lovelace@gmial.com')
  const id = await send(rest, 'ada.lovelace@gmail.com')
  const bound = await withKey(['api:read'], project)
  const lost = await missing(bound, 'ada.lovelace@gmail.com')
  t.deepEqual(idsOf(lost), ['not_sent', 'domain_takes_no_mail'])
  t.true((lost['not_checked'] as { what: string }[]).some(({ what }) => what === 'Other projects of the organization'))
  t.is((await bounce(bound, id))['found'], false)
  await send(rest, 'ada.lovelace@gmail.com', { project_id: project })
  t.is(((await missing(bound, 'ada.lovelace@gmail.com'))['traces'] as unknown[]).length, 1)
})

test('messages deleted by retention are not reported as never sent', async (t) => {
  const { rest, clock, database, organizationId } = await startFixture(t, { plan: 'free' })
  const cut = await missing(rest, 'ada@example.ch', '30d')
  t.is((cut['window'] as { from: string }).from, new Date(clock.now() - 7 * 24 * hour).toISOString())
  t.regex(JSON.stringify(cut['not_checked']), /The plan free keeps traces for 7 days/)
  const day = (ago: number) => new Date(clock.now() - ago * 24 * hour).toISOString()
  const gone = await missing(rest, 'ada@example.ch', `${day(20)}/${day(19)}`)
  t.deepEqual([gone['verdict'], idsOf(gone)], ['unknown', ['not_kept']])
  // The oldest traces are deleted early when the plan's trace limit is reached.
  await send(rest, 'eva@example.ch')
  const oldest = new Date(clock.now()).toISOString()
  t.notRegex(JSON.stringify((await missing(rest, 'ada@example.ch'))['not_checked']), /The plan free/)
  await database.commit(new Change().add(storedTracesCounter(organizationId), 999))
  clock.advance(hour)
  const full = await missing(rest, 'ada@example.ch')
  t.is((full['window'] as { from: string }).from, oldest)
  t.regex(JSON.stringify(full['not_checked']), /The plan free stores 1000 traces/)
})

test('a recipient domain without MX is reported; DNS failures show as not checked', async (t) => {
  const { rest, records } = await startFixture(t)
  records.mx.set('null.example', [{ exchange: '', priority: 0 }])
  records.mx.set('good.example', [{ exchange: 'mx.good.example', priority: 10 }])
  t.regex(hypothesesOf(await missing(rest, 'a@null.example')).find(({ id }) => id === 'domain_takes_no_mail')?.explanation ?? '', /null MX/)
  t.regex(
    hypothesesOf(await missing(rest, 'a@gone.example')).find(({ id }) => id === 'domain_takes_no_mail')?.explanation ?? '',
    /neither an MX/,
  )
  t.true(
    ((await missing(rest, 'a@good.example'))['checked'] as string[]).includes('The MX records of good.example point to mx.good.example.'),
  )
  const failing = await missing(rest, 'a@broken.example.ch')
  t.false(idsOf(failing).includes('domain_takes_no_mail'))
  t.true((failing['not_checked'] as { what: string }[]).some(({ what }) => what === 'Whether the domain of the recipient accepts mail'))
})

test('later reports of a delay, a complaint and an open appear in the diagnosis', async (t) => {
  const fixture = await startFixture(t)
  const { rest, database, organizationId, clock } = fixture
  const destination_id = await addDestination(rest, {}, true)
  const made = async (to: string) => {
    const id = await send(rest, to, { destination_id })
    await taken(fixture, id)
    return id
  }
  await report(fixture, await made('slow@example.ch'), { type: 'deferred', status: '4.4.1', bounce: null })
  const slow = await missing(rest, 'slow@example.ch')
  t.deepEqual([slow['verdict'], idsOf(slow)[0]], ['deferred', 'delayed_downstream'])

  const angry = await made('angry@example.ch')
  await report(fixture, angry, { type: 'complained', format: 'arf', feedbackType: 'abuse', bounce: null })
  t.deepEqual(idsOf(await missing(rest, 'angry@example.ch')), ['complained', 'domain_takes_no_mail', 'complaints'])
  const seen = await bounce(rest, angry)
  t.like(seen, { bounce: null, category: 'complaint', source: 'arf' })
  t.is((seen['suppress'] as { recommended: boolean }).recommended, true)

  const open = await made('open@example.ch')
  await rewrite(fixture, open, (trace) => ({ ...trace, tracking: { clicks: false, links: 0, opens: true } }))
  const { record } = (await database.get(traces, { organizationId }, open)) ?? {}
  const engagement = { id: open, projectId: record?.projectId ?? '', opens: 1, clicks: 0, firstOpens: [clock.now()], firstClicks: [] }
  await database.commit(new Change().insert(engagements, organizationId, engagement))
  t.is(idsOf(await missing(rest, 'open@example.ch'))[0], 'opened')
})

test('diagnosis: the send budget is used up', async (t) => {
  const { rest } = await startFixture(t)
  const project = await rest.must('POST', '/v1/projects', { name: 'Small', send_budget: 1 })
  await send(rest, 'eva@example.ch', { project_id: project['id'] })
  const lost = await missing(rest, 'ada@example.ch')
  t.regex(
    hypothesesOf(lost).find(({ id }) => id === 'budget_used_up')?.explanation ?? '',
    /The project Small has used its budget of 1 sends/,
  )
})

test('an invalid address or time is refused with the name of its field', async (t) => {
  const { rest } = await startFixture(t)
  const ask = async (query: string) => refusal(await rest.call('GET', `/v1/diagnose/${query}`)).slice(0, 2)
  const wrong = [400, 'validation_failed']
  for (const window of [
    '',
    '0h',
    '24',
    '1w',
    '99999d',
    '2026-11-01T00:00:00Z',
    '2026-11-02/2026-11-01',
    '2026-11-02T00:00:00Z/2026-11-01T00:00:00Z',
    '2026-13-01T00:00:00Z/2026-11-01T00:00:00Z',
    'a/b/c',
  ])
    t.deepEqual(await ask(`missing?recipient=a@b.ch&time_window=${encodeURIComponent(window)}`), wrong, window)
  for (const recipient of ['', 'ada', 'a@b.ch,c@d.ch', '<a@b.ch>'])
    t.deepEqual(await ask(`missing?recipient=${encodeURIComponent(recipient)}`), wrong, recipient)
  t.deepEqual(await ask('missing'), wrong)
  t.deepEqual(await ask('bounce'), wrong)
  t.deepEqual(await ask(`bounce?message_id=${'x'.repeat(999)}`), wrong)
})
