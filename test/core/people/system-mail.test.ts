/** Mail of the service leaves through the first of its destinations that works. */
import test from '#test'
import { coreFixture } from '../core-fixture.ts'
import { report, take } from '../scripted-transport.ts'

const ids = ['1', '2', '3'].map((digit) => `dst_${digit.repeat(32)}`)
const [first = '', second = '', third = ''] = ids
const env = { POSTERN_SYSTEM_DESTINATION: ids.join(', '), POSTERN_SYSTEM_FROM: 'Post <post@example.ch>' }
const mail = { subject: 'Hello', text: 'Hello\n', html: '<p>Hello</p>' }

test('system mail: later destinations take over while an earlier one refuses the login or is away', async (t) => {
  const fixture = await coreFixture(t, { env })
  for (const id of ids) await fixture.destination({ id })
  const used: string[] = []
  fixture.transport.script = (call) => {
    used.push(call.target.destinationId)
    if (call.target.destinationId === first) return report(call, 'transient', 'auth_failed')
    return call.target.destinationId === second ? report(call, 'transient', 'connection_refused') : take(call)
  }
  await fixture.part('people').mail.send('ops@example.ch', mail)
  await fixture.pass(60_000)
  t.deepEqual([...new Set(used)], [first, second, third])
  t.is(used.at(-1), third)
})

test('system mail: the first live destination is used', async (t) => {
  const fixture = await coreFixture(t, { env })
  const { mail: service } = fixture.part('people')
  t.false(await service.isReady())
  await fixture.destination({ id: first, mode: 'sandbox' })
  await fixture.destination({ id: second })
  t.is((await service.way())?.destinationId, second)
})
