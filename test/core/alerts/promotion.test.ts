/** Alerts about mail without a routing rule: within 7 days after the promotion of a destination. */
import test from '#test'
import { receiverOf } from '../../support/web/webhook-receiver.ts'
import { principal } from '../core-fixture.ts'
import { alertsFixture, minute } from './alerts-fixture.ts'

const day = 24 * 60 * minute

test('route.missing: alerted within 7 days after a promotion, and shown later', async (t) => {
  const setup = await alertsFixture(t, { hasMail: false, hasOwner: false })
  const { fixture } = setup
  const receiver = await receiverOf(t)
  await setup.channel({ kind: 'slack', target: { url: receiver.url } })
  await fixture.part('watch').start()
  const destinations = fixture.part('destinations')
  await fixture.destination({ mode: 'sandbox' })
  await destinations.promoteToLive(principal, 'dst_1')
  const capture = async (): Promise<void> => {
    await fixture.submit()
    for (let looks = 0; looks < 3; looks++) {
      await setup.pass(30_000)
      await fixture.part('watch').idle()
    }
    await setup.pass(10 * minute, minute)
  }
  const severity = async () => (await setup.findings()).find(({ kind, state }) => kind === 'route.missing' && state === 'open')?.severity

  fixture.clock.advance(8 * day)
  await capture()
  t.is(await severity(), 'warning')
  t.is(receiver.received.length, 0, '8 days after the promotion')

  await destinations.setMode(principal, 'dst_1', 'sandbox')
  await destinations.setMode(principal, 'dst_1', 'live')
  await destinations.promoteToLive(principal, 'dst_1')
  await capture()
  t.is(await severity(), 'error')
  t.is(receiver.received.length, 1, 'after a new promotion')
  t.regex(receiver.received[0]?.body ?? '', /Mail from example\.com is captured/)
})
