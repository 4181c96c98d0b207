/** Notices to authors of mail: settings on SMTP credentials and send-only keys, with today's counts of sent and withheld notices. */
import test from '#test'
import { countNotice } from '#core/tenancy/notice-counters.ts'
import { Change } from '#store/change.ts'
import { errorOf, startFixture } from '../fixture/rest-fixture.ts'

test("SMTP credentials and send-only keys have notice settings and show today's counts", async (t) => {
  const { rest, database, clock, organizationId } = await startFixture(t)
  for (const [path, body] of [
    ['/v1/smtp-credentials', { label: 'CMS' }],
    ['/v1/api-keys', { name: 'site', send_only: true }],
  ] as const) {
    const made = await rest.must('POST', path, body)
    const fresh = { failure_notices: 'auto', failure_notice_to: null, failure_notices_today: { sent: 0, withheld: 0 } }
    t.like(made, fresh)
    const own = `${path}/${String(made['id'])}`
    const changed = await rest.must('PATCH', own, { failure_notices: 'on', failure_notice_to: 'admin@example.org' })
    t.like(changed, { failure_notices: 'on', failure_notice_to: 'admin@example.org' })
    const source = { organizationId, submittedBy: String(made['id']) }
    const change = new Change()
    countNotice(change, source, 'sent', clock.now())
    countNotice(change, source, 'withheld', clock.now())
    await database.commit(change)
    t.like(await rest.must('GET', own), { failure_notices: 'on', failure_notices_today: { sent: 1, withheld: 1 } })
    t.like(await rest.must('PATCH', own, { failure_notice_to: '' }), { failure_notices: 'on', failure_notice_to: null })
    const wrong = errorOf(await rest.call('PATCH', own, { failure_notice_to: 'nobody' }))
    t.regex(JSON.stringify(wrong), /failure_notice_to.*must be a mail address/)
  }
})

test('keys with read access have no notice settings: their callers read the trace', async (t) => {
  const { rest } = await startFixture(t)
  const wrong = errorOf(await rest.call('POST', '/v1/api-keys', { name: 'all', scopes: ['api:send'], failure_notices: 'on' }))
  t.regex(JSON.stringify(wrong), /failure_notices.*applies to send-only keys/)
})
