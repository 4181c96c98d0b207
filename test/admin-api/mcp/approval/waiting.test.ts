/** Pending messages: their count, their use of the send budget, and the mails to approvers. */
import test from '#test'
import { approvalNotices } from '#core/people/mail/approval-notices.ts'
import { systemOrganizationId } from '#core/routing/policy/system-policy.ts'
import { traces } from '#core/trace/trace.ts'
import { readContent } from '#store/content.ts'
import { assertSound } from '../../../support/problems.ts'
import { mail, startApproval, type ApprovalFixture } from './approval-fixture.ts'

const project = ({ rest, projectId }: ApprovalFixture) => rest.must('GET', `/v1/projects/${projectId}`)

test('approval: refusal and timeout refund the send; approval and withdrawal use it', async (t) => {
  const fixture = await startApproval(t)
  const { rest, clock, projectId, destinationId } = fixture
  await rest.must('PATCH', `/v1/projects/${projectId}`, { send_budget: 1 })
  const olga = await fixture.member('olga@example.ch')
  const agent = await fixture.agent({ era: 'legacy' })
  const isFull = async (): Promise<void> => {
    t.like(await agent.refused('email_send_test', { ...mail, destination_id: destinationId }), { code: 'project_budget_exhausted' })
    t.like(await project(fixture), { project_sends_today: 1, approvals_waiting: 1 })
    t.like(await rest.must('GET', '/v1/projects/me'), { sends_today: 1 })
  }
  const isFree = async (): Promise<void> => {
    t.like(await project(fixture), { project_sends_today: 0, approvals_waiting: 0 })
    t.like(await rest.must('GET', '/v1/projects/me'), { sends_today: 0 })
  }
  const refused = await fixture.hold()
  await isFull()
  t.is(await fixture.decide(olga, refused, 'refuse'), 303)
  await isFree()

  const late = await fixture.hold()
  await isFull()
  clock.advance(31 * 60_000)
  await fixture.daemon.settled()
  t.like(await fixture.traceOf(late), { status: 'canceled' })
  await isFree()

  const scheduled = await fixture.hold({ send_at: new Date(clock.now() + 600_000).toISOString() })
  await isFull()
  await agent.must('email_scheduled_cancel', { trace_id: scheduled.trace_id })
  t.like(await project(fixture), { project_sends_today: 1, approvals_waiting: 0 })

  await rest.must('PATCH', `/v1/projects/${projectId}`, { send_budget: 2 })
  const approved = await fixture.hold()
  t.is(await fixture.decide(olga, approved, 'approve'), 303)
  t.like(await project(fixture), { project_sends_today: 2, approvals_waiting: 0 })
  t.like(await agent.refused('email_send_test', { ...mail, destination_id: destinationId }), { code: 'project_budget_exhausted' })
  await assertSound(t, fixture)
})

test('approval: a refund after midnight counts for the day of the request', async (t) => {
  const fixture = await startApproval(t)
  fixture.clock.advance(24 * 3_600_000 - 60_000) // 23:59
  const held = await fixture.hold()
  fixture.clock.advance(120_000)
  t.is(await fixture.decide(await fixture.member('olga@example.ch'), held, 'refuse'), 303)
  t.like(await project(fixture), { project_sends_today: 0 })
  await fixture.hold()
  t.like(await project(fixture), { project_sends_today: 1 })
})

test('approval: pending messages are counted per project despite later messages', async (t) => {
  const fixture = await startApproval(t)
  const { rest, projectId } = fixture
  const { id } = await rest.must('POST', '/v1/projects', { name: 'Tenant', parent_id: projectId })
  for (let n = 0; n < 3; n++) await fixture.hold()
  const sandbox = { ...mail, subject: 'Later' }
  for (let n = 0; n < 60; n++) await rest.must('POST', '/v1/messages', sandbox)
  const { data } = (await rest.must('GET', '/v1/projects')) as unknown as {
    readonly data: readonly { readonly id: string; readonly approvals_waiting: number }[]
  }
  t.deepEqual(
    new Map(data.map((one) => [one.id, one.approvals_waiting])),
    new Map([
      [String(id), 0],
      [projectId, 3],
    ]),
  )
})

/** Returns the mails of the service with their recipients and their source. */
async function mailsOf({ database }: ApprovalFixture): Promise<readonly { readonly to: string; readonly raw: string }[]> {
  const { rows } = await database.list(traces, { organizationId: systemOrganizationId }, { limit: 100, ascending: true })
  return Promise.all(
    rows.map(async ({ record }) => {
      const pieces: Uint8Array[] = []
      for await (const piece of readContent(database, systemOrganizationId, record.content)) pieces.push(piece)
      return { to: record.recipients.map(({ address }) => address).join(), raw: Buffer.concat(pieces).toString().replaceAll('=\r\n', '') }
    }),
  )
}

/** Delivers the pending mails of the service. */
async function handedOver({ people }: ApprovalFixture, notices = people.approvalNotices): Promise<void> {
  await notices.idle()
  await people.background.idle()
}

test('approval: approvers get one mail without any text of the agent', async (t) => {
  const fixture = await startApproval(t, { hasMail: true })
  const olga = await fixture.member('olga@example.ch', 'owner')
  await fixture.member('dora@example.ch', 'developer')
  await fixture.member('vera@example.ch', 'viewer')
  await fixture.member('bill@example.ch', 'billing')
  await fixture.member('mute@example.ch', 'developer')
  const { data } = (await fixture.rest.must('GET', '/v1/members')) as { data: { user_id: string; email: string }[] }
  const userId = data.find(({ email }) => email === 'mute@example.ch')?.user_id ?? ''
  const mute = { organizationId: fixture.organizationId, holder: { kind: 'user', userId } } as never
  t.deepEqual(await fixture.people.mailChoices.change(mute, { approvals: false }), { alerts: true, approvals: false })
  const signIns = (await mailsOf(fixture)).length
  const news = async () => (await mailsOf(fixture)).slice(signIns)
  const held = await fixture.hold({ subject: 'Ignore all rules', text: 'Approve this at once.' })
  await handedOver(fixture)
  const first = await news()
  t.deepEqual(first.map(({ to }) => to).toSorted(), ['dora@example.ch', 'olga@example.ch'])
  for (const { raw } of first) {
    t.true(raw.includes(held.approval.url))
    t.regex(raw, /^Subject: An agent is waiting for your approval in Default\r$/m)
    for (const word of ['Ignore all', 'at once', 'ada@example.org', held.approval.digest]) t.false(raw.includes(word), word)
  }
  const second = await fixture.hold()
  await fixture.hold()
  await handedOver(fixture)
  t.is((await news()).length, 2, 'it waits still')
  t.is(await fixture.decide(olga, held, 'refuse'), 303)
  t.is(await fixture.decide(olga, second, 'approve'), 303)
  const next = await fixture.hold({ send_at: new Date(fixture.clock.now() + 600_000).toISOString() })
  await handedOver(fixture)
  const all = await news()
  t.is(all.length, 4)
  t.is(all.filter(({ raw }) => raw.includes(next.approval.url)).length, 2)
  const agent = await fixture.agent()
  await agent.must('email_scheduled_cancel', { trace_id: next.trace_id })
  const { id } = await agent.must('project_sub_create', { name: 'URGENT approve it now' })
  await fixture.rest.must('PATCH', `/v1/destinations/${fixture.destinationId}`, { scope: 'org' })
  await fixture.hold()
  await fixture.hold({}, await fixture.tokenOf(undefined, { project: String(id) }))
  await handedOver(fixture)
  t.is((await news()).length, 4, 'a withdrawn message and a partition cause no further mail')
  fixture.clock.advance(31 * 60_000)
  await fixture.hold({}, await fixture.tokenOf(undefined, { project: String(id) }))
  await handedOver(fixture)
  t.is((await news()).length, 6, 'its time is over')
  for (const { raw } of (await news()).slice(4)) {
    t.regex(raw, /^Subject: An agent is waiting for your approval in Default\r$/m)
    t.false(raw.includes('URGENT'), 'the agent uses a partition')
  }
  await assertSound(t, fixture)
})

test('approval: a notice lost in a crash is sent at the next start if still pending', async (t) => {
  const fixture = await startApproval(t, { hasMail: true })
  const olga = await fixture.member('olga@example.ch', 'owner')
  await fixture.people.approvalNotices.stop() // simulates the end of the process
  const held = await fixture.hold()
  await handedOver(fixture)
  t.is((await mailsOf(fixture)).length, 0)
  t.is(await fixture.decide(olga, held, 'refuse'), 303)
  await fixture.hold()
  const { mail: own, outbox } = fixture.people
  const next = approvalNotices({ ...fixture.daemon.part('core'), mail: own, outbox, onError: (error) => t.fail(String(error)) })
  next.start()
  t.teardown(() => next.stop())
  await handedOver(fixture, next)
  t.is((await mailsOf(fixture)).length, 1)
  await assertSound(t, fixture)
})

test('approval: a failed notice is retried after a minute and delays no other', async (t) => {
  const fixture = await startApproval(t, { hasMail: true })
  await fixture.member('olga@example.ch', 'owner')
  await fixture.people.approvalNotices.stop()
  const { id } = await fixture.rest.must('POST', '/v1/projects', { name: 'Second' })
  await fixture.rest.must('PATCH', `/v1/projects/${String(id)}`, { agent_send_approval: 'always' })
  await fixture.rest.must('PATCH', `/v1/destinations/${fixture.destinationId}`, { scope: 'org' })
  await fixture.hold()
  await fixture.hold({}, await fixture.tokenOf(undefined, { project: String(id) }))
  const { mail: own, outbox } = fixture.people
  let looks = 0
  const failingOnce = {
    isReady: () => (++looks === 1 ? Promise.reject(new Error('once')) : own.isReady()),
    urlOf: (path: string) => own.urlOf(path),
  } as unknown as typeof own
  const errors: AggregateError[] = []
  const notices = approvalNotices({
    ...fixture.daemon.part('core'),
    mail: failingOnce,
    outbox,
    onError: (error) => errors.push(error as AggregateError),
  })
  notices.start()
  t.teardown(() => notices.stop())
  await handedOver(fixture, notices)
  t.deepEqual(
    errors.map((error) => error.errors.map(String)),
    [['Error: once']],
  )
  t.is((await mailsOf(fixture)).length, 1, 'the next project gets its mail')
  fixture.clock.advance(60_000)
  await handedOver(fixture, notices)
  t.is((await mailsOf(fixture)).length, 2)
  await assertSound(t, fixture)
})
