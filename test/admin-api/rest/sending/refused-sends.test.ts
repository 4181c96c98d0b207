/** Refused sends, and their traces. Spec "Trace status", `validation_failed`. */
import test from '#test'
import { dayOf, refusedCounter, refusedPagesCounter, storedTracesCounter } from '#core/tenancy/counters.ts'
import { Change } from '#store/change.ts'
import { pack } from '#store/tuple.ts'
import type { RestClient } from '../../../support/daemon/rest.ts'
import { codeOf, publishableFixture } from '../fixture/publishable-page.ts'
import { adminKey, errorOf, startFixture } from '../fixture/rest-fixture.ts'
import { assertSound } from '../../../support/problems.ts'
import { columns } from '../../../support/column.ts'

const plain = { from: 'Shop <shop@example.ch>', to: 'ada@example.ch', subject: 'Secret subject', text: 'Secret text' }

/** Makes a refused send; returns the id of its trace. */
async function refuse(rest: RestClient, body: object): Promise<string | undefined> {
  const answer = await rest.call('POST', '/v1/messages', { ...plain, ...body })
  if (errorOf(answer).code !== 'validation_failed') throw new Error(`answered ${answer.status}`)
  return errorOf(answer).details?.['trace_id'] as string | undefined
}

const listed = async (rest: RestClient, query = ''): Promise<Record<string, unknown>[]> =>
  (await rest.must('GET', `/v1/traces${query}`))['data'] as Record<string, unknown>[]

test('an invalid send leaves a trace without content, named in the refusal and in lists', async (t) => {
  const { rest, clock, database } = await startFixture(t)
  const id = await refuse(rest, { to: ['ada@example.ch', 'no address'], bcc: 'bea@example.ch', unknown: 1 })
  const trace = await rest.must('GET', `/v1/traces/${String(id)}`)
  const at = new Date(clock.now()).toISOString()
  t.like(trace, { status: 'validation_failed', outcome: 'refused', from: 'shop@example.ch', subject: '', attempts: 0, created_at: at })
  t.deepEqual(columns(trace['recipients'] as { address: string; status: string }[], 'address', 'status'), [
    ['bea@example.ch', 'validation_failed'],
    ['ada@example.ch', 'validation_failed'],
  ])
  t.deepEqual(columns(trace['timeline'] as { event: string; message: string }[], 'event', 'message'), [
    ['validation_failed', `Refused: ${String(trace['outcome_reason'])}`],
  ])
  t.regex(String(trace['outcome_reason']), /^unknown: is not a known field/)
  t.false(JSON.stringify(trace).includes('Secret'))
  await assertSound(t, { database }, 'a trace without content is sound')
  for (const query of ['?status=validation_failed', '?to=ada%40example.ch', '?to=bea%40example.ch'])
    t.deepEqual(
      (await listed(rest, query)).map((one) => one['trace_id']),
      [id],
      query,
    )
})

test('a send that fails a later check leaves a trace too', async (t) => {
  const { rest, clock } = await startFixture(t)
  t.truthy(await refuse(rest, { destination_id: 'dst_none' }))
  t.truthy(await refuse(rest, { environment: 'nowhere' }))
  t.truthy(await refuse(rest, { send_at: new Date(clock.now() - 1).toISOString() }))
  t.is((await listed(rest, '?status=validation_failed')).length, 3)
})

test('diagnoseMissing reports that a send was refused, with the reason', async (t) => {
  const { rest } = await startFixture(t)
  const id = await refuse(rest, { text: undefined })
  const found = await rest.must('GET', '/v1/diagnose/missing?recipient=ada%40example.ch')
  t.is(found['verdict'], 'not_sent')
  t.true(JSON.stringify(found).includes(String(id)))
  t.regex(JSON.stringify(found), /give text, html, both, or a template/)
})

test('refusals without readable recipients or without permission leave no trace', async (t) => {
  const { rest, client, withKey, addProject } = await startFixture(t)
  t.is(await refuse(rest, { to: 'no address' }), undefined)
  t.is(await refuse(rest, { to: [], text: 7 }), undefined)
  const reader = await withKey(['api:read'])
  t.is((await reader.call('POST', '/v1/messages', { ...plain, unknown: 1 })).status, 403)
  t.is((await client(`${adminKey}x`).call('POST', '/v1/messages', { ...plain, unknown: 1 })).status, 401)
  const bound = await withKey(['api:send'], await addProject())
  const { project_id } = await rest.must('GET', '/v1/projects/me')
  t.is(await refuse(bound, { project_id, unknown: 1 }), undefined)
  t.deepEqual(await listed(rest), [])
})

test("refused sends: a daily limit of traces, a tenth of the plan's; more only count", async (t) => {
  const { rest, clock, database, organizationId } = await startFixture(t, { plan: 'anonymous' })
  const ids: (string | undefined)[] = []
  for (let n = 0; n < 13; n++) ids.push(await refuse(rest, { unknown: n }))
  t.deepEqual(
    ids.map((id) => id !== undefined),
    [...Array.from({ length: 10 }, () => true), false, false, false],
  )
  t.is(await database.kv.counter(pack(storedTracesCounter(organizationId))), 10)
  const found = await rest.must('GET', '/v1/diagnose/missing?recipient=nobody%40example.ch')
  t.regex(JSON.stringify(found['not_checked']), /3 sends that were refused today have no trace/)
  clock.advance(86_400_000)
  t.truthy(await refuse(rest, { unknown: 1 }), 'a new day')
})

test('the daily limit of refused traces of a project is at most 1,000', async (t) => {
  const { rest, database, clock, organizationId } = await startFixture(t)
  const project = String((await rest.must('GET', '/v1/projects/me'))['project_id'])
  await database.commit(new Change().add(refusedCounter(organizationId, project, dayOf(clock.now())), 999))
  t.truthy(await refuse(rest, { unknown: 1 }))
  t.is(await refuse(rest, { unknown: 1 }), undefined)
})

test('publishable key: refused traces for allowed recipients only, at most 100 a day', async (t) => {
  const { rest, send, database, clock, organizationId, client, token } = await publishableFixture(t)
  const project = String((await rest.must('GET', '/v1/projects/me'))['project_id'])
  const traceOf = async (body: object): Promise<unknown> => {
    const answer = await send(body)
    t.is(codeOf(answer), '400 validation_failed')
    return errorOf(answer).details?.['trace_id']
  }
  const id = await traceOf({ from: 'Boss <boss@bank.example>', text: 7 })
  t.like(await rest.must('GET', `/v1/traces/${String(id)}`), {
    ...{ status: 'validation_failed', outcome: 'refused', from: 'form@example.ch', door: 'publishable_key' },
    recipients: [{ address: 'ada@example.ch', status: 'validation_failed' }],
  })
  t.truthy(await traceOf({ environment: 'production' }), 'a field that pages may not use')
  t.is(await traceOf({ to: 'eve@example.net', text: 7 }), undefined, 'a stranger')
  t.is(await traceOf({ bcc: 'eve@example.net', text: 7 }), undefined, 'a copy to a recipient that is not allowed')
  const elsewhere = { origin: 'https://evil.example' }
  t.is(codeOf(await client(token).call('POST', '/v1/messages', { to: 'ada@example.ch', text: 7 }, elsewhere)), '403 origin_not_allowed')
  t.is((await listed(rest)).length, 2)
  await database.commit(new Change().add(refusedPagesCounter(organizationId, project, dayOf(clock.now())), 98))
  t.is(await traceOf({ text: 7 }), undefined, 'above the limit of pages')
  t.truthy(await refuse(rest, { unknown: 1 }), 'programs have their own limit')
})
