/** The faults of recipients in a mail test. */
import test from '#test'
import { faultOf } from '#core/mail-tests/fault.ts'
import { TestRecipients } from '#core/mail-tests/test-recipients.ts'
import { FakeClock } from '../../support/fake-clock.ts'

test('faultOf() reads only the word and the number', (t) => {
  const known: readonly [string, string, number][] = [
    ['defer@x.test', 'defer', 1],
    ['Defer+3@x.test', 'defer', 3],
    ['defer+3.signup@x.test', 'defer', 3],
    ['defer+signup@x.test', 'defer', 1],
    ['defer+0@x.test', 'defer', 1],
    ['defer+99999@x.test', 'defer', 1],
    ['refuse@x.test', 'refuse', 550],
    ['bounce+552@x.test', 'bounce', 552],
    ['bounce+250@x.test', 'bounce', 550],
    ['slow+20@x.test', 'slow', 20],
    ['dsn+0@x.test', 'dsn', 0],
    ['complaint@x.test', 'complaint', 1],
  ]
  for (const [address, kind, amount] of known) t.deepEqual(faultOf(address) as unknown, { kind, amount }, address)
  for (const address of ['deferred@x.test', 'no.bounce@x.test', 'bounces@x.test', 'bounce.x@x.test', 'x+bounce@x.test', 'ann@slow.test'])
    t.is(faultOf(address), undefined, address)
})

test('a deferred recipient counts by address, and again after an acceptance', async (t) => {
  const recipients = new TestRecipients(new FakeClock())
  const code = async (address: string): Promise<number> => (await recipients.answer(address, 'submission'))?.code ?? 250
  t.deepEqual([await code('defer+2@x.test'), await code('DEFER+2@x.test'), await code('defer+2@x.test')], [451, 451, 250])
  t.deepEqual([await code('defer+2@x.test'), await code('defer+2.b@x.test')], [451, 451])
})

test('bounce refuses submission and accepts delivery; slow answers after its time', async (t) => {
  const clock = new FakeClock()
  const recipients = new TestRecipients(clock)
  t.like(await recipients.answer('bounce+552@x.test', 'submission'), { code: 552, enhanced: '5.2.2' })
  t.is(await recipients.answer('bounce@x.test', 'delivery'), undefined)
  t.like(await recipients.answer('refuse@x.test', 'delivery'), { code: 550, enhanced: '5.1.1' })
  const state = { isAnswered: false }
  const answered = recipients.answer('slow+7@x.test', 'submission').then(() => (state.isAnswered = true))
  clock.advance(6999)
  await new Promise((resolve) => setImmediate(resolve))
  t.false(state.isAnswered)
  clock.advance(1)
  t.true(await answered)
})
