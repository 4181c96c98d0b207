import test from '#test'
import { delayOf } from '../../../protocols/submission/auth.ts'
import { startFixture } from './submission-fixture.ts'

test('delayOf(): starts at 1 s, grows with jitter, at most 3 s', (t) => {
  t.is(delayOf(1, 0), 1000)
  t.is(delayOf(1, 0.5), 1250)
  t.is(delayOf(2, 0), 1750)
  t.is(delayOf(3, 0.999), 2999.5)
  t.is(delayOf(4, 0.999), 3000)
  t.is(delayOf(100, 0), 3000)
})

test('LoginGate: delays failures, not a success', async (t) => {
  const fixture = await startFixture(t)
  const client = await fixture.connect(true)
  await client.reply()
  await client.command('EHLO client.test')
  const wrong = Buffer.from('\0user\0wrong').toString('base64')
  t.regex(await client.command(`AUTH PLAIN ${wrong}`), /^535 5\.7\.8/)
  t.regex(await client.command(`AUTH PLAIN ${wrong}`), /^535 5\.7\.8/)
  const [first = 0, second = 0, ...more] = fixture.clock.delays
  t.true(first >= 1000 && first < 1500, `${first}`)
  t.true(second >= 1750 && second < 2250, `${second}`)
  t.deepEqual(more, [])
  t.regex(await client.command('AUTH PLAIN AHVzZXIAc2VjcmV0'), /^235 2\.7\.0/)
  t.is(fixture.clock.delays.length, 2)
})

test('LoginGate: counts failures of a session across STARTTLS', async (t) => {
  const fixture = await startFixture(t, {}, { cleartextAuth: 'loopback' })
  const client = await fixture.connect()
  await client.reply()
  await client.command('EHLO client.test')
  const wrong = Buffer.from('\0user\0wrong').toString('base64')
  await client.command(`AUTH PLAIN ${wrong}`)
  await client.command(`AUTH PLAIN ${wrong}`)
  await client.startTls()
  await client.command('EHLO client.test')
  t.regex(await client.command(`AUTH PLAIN ${wrong}`), /^421 4\.7\.0/)
  t.is(await client.closed(), '')
})
