/** Findings about alerts themselves: no mail, and one path. */
import test from '#test'
import { observed } from '#core/findings/finding.ts'
import { destinations } from '#core/routing/destination.ts'
import { RecordIds } from '#store/ids.ts'
import { column } from '../../support/column.ts'
import { coreFixture, organizationId, projectId, type CoreFixture } from '../core-fixture.ts'

const minute = 60_000
const ids = new RecordIds()
const [first, second] = [ids.next('dst', 0), ids.next('dst', 0)]
const env = {
  POSTERN_SYSTEM_DESTINATION: `${first},${second}`,
  POSTERN_SYSTEM_FROM: 'post@example.ch',
  POSTERN_DOCTOR_MAIL_TO: 'ops@example.org',
}

/** Findings about alerts after a check. */
async function aboutAlerts(fixture: CoreFixture): Promise<readonly string[]> {
  fixture.clock.advance(minute)
  const { findings } = await fixture.part('doctor').examine()
  return column(findings, 'id').filter((id) => id.startsWith('alerts.'))
}

/** Failed probes of destinations. */
const settle = (fixture: CoreFixture, cause: string, ...subjects: readonly string[]) =>
  fixture.part('settle').settle({
    ...{ organizationId, check: 'test' },
    observed: subjects.map((subject) => observed('destination.probe_failed', subject, { name: 'Provider', cause }, projectId)),
  })

test('alerts.one_path: open while every host of system mail has a destination with an error', async (t) => {
  const fixture = await coreFixture(t, { env })
  await fixture.destination({ id: first, host: 'smtp.one.example' })
  await fixture.destination({ id: second, host: 'smtp.two.example' })
  await fixture.destination({ id: 'dst_3', host: 'SMTP.two.example' })
  await fixture.destination({ id: 'dst_4', host: 'smtp.four.example' })
  t.deepEqual(await aboutAlerts(fixture), [])
  await settle(fixture, 'timeout', first, 'dst_4')
  t.deepEqual(await aboutAlerts(fixture), [], 'one host still works')
  await settle(fixture, 'refused', first, 'dst_3')
  t.deepEqual(await aboutAlerts(fixture), ['alerts.one_path'])
  const { findings } = await fixture.part('doctor').report()
  t.regex(findings.find(({ id }) => id === 'alerts.one_path')?.summary ?? '', /only through smtp\.one\.example and one other host, /)
  await settle(fixture, 'refused', 'dst_3')
  t.deepEqual(await aboutAlerts(fixture), [])
})

test('alerts.one_path: a wrong password or setting of one destination says nothing about its host', async (t) => {
  const fixture = await coreFixture(t, { env })
  await fixture.destination({ id: first, host: 'smtp.one.example' })
  await fixture.destination({ id: second, host: 'smtp.one.example' })
  for (const kind of ['destination.login_refused', 'destination.failing'] as const) {
    const found = observed(kind, first, { destination: 'Provider', name: 'Provider', code: 'auth_failed' }, projectId)
    await fixture.part('settle').settle({ organizationId, check: 'test', observed: [found] })
    t.deepEqual(await aboutAlerts(fixture), [], kind)
  }
  for (const cause of ['login', 'settings', 'address', 'cleartext', 'other']) {
    await settle(fixture, cause, first)
    t.deepEqual(await aboutAlerts(fixture), [], cause)
  }
  await fixture.destination({ id: 'dst_3', host: 'smtp.one.example', port: 2526 })
  await fixture.destination({ id: 'dst_4', host: 'smtp.one.example', security: 'tls' })
  await settle(fixture, 'timeout', 'dst_3', 'dst_4')
  t.deepEqual(await aboutAlerts(fixture), [], 'another port, and TLS at this one')
})

test('alerts.no_mail: open while mail to the operator is set and no destination of system mail is live', async (t) => {
  const fixture = await coreFixture(t, { env })
  await fixture.destination({ id: first, mode: 'sandbox' })
  t.deepEqual(await aboutAlerts(fixture), ['alerts.no_mail'])
  await fixture.edit(destinations, first, { mode: 'live' })
  t.deepEqual(await aboutAlerts(fixture), [])
})
