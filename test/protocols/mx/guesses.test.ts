/** Clients that guess return paths. */
import test from '#test'
import { startFixture, type Fixture } from './mx-fixture.ts'

const hour = 3_600_000

/** Returns the replies to RCPT for each address, in a separate session. */
async function ask({ connect }: Fixture, addresses: readonly string[]): Promise<string[]> {
  const client = await connect()
  await client.reply()
  await client.command('EHLO relay.test')
  await client.command('MAIL FROM:<>')
  const answers: string[] = []
  for (const address of addresses) answers.push((await client.command(`RCPT TO:<${address}>`)).slice(0, 9))
  client.destroy()
  return answers
}

test('guesses: a client with 20 guessed return paths is refused for an hour', async (t) => {
  const fixture = await startFixture(t)
  const { forged = '', anna = '', 'forged-srs0': wrapped = '' } = fixture.names
  const waiting = await fixture.connect()
  await waiting.reply()
  await waiting.command('EHLO relay.test')
  await waiting.command('MAIL FROM:<>')

  const guesses = Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? forged : wrapped))
  t.deepEqual(await ask(fixture, [...guesses, anna]), [...guesses.map(() => '550 5.1.1'), '250 2.1.5'], 'ten')
  t.deepEqual(
    await ask(fixture, guesses),
    guesses.map(() => '550 5.1.1'),
    'twenty',
  )

  t.regex(await waiting.command(`RCPT TO:<${anna}>`), /^421 4\.7\.0 Too many unknown return paths/)
  t.is(await waiting.closed(), '')
  const late = await fixture.connect()
  t.regex(await late.reply(), /^421 4\.7\.0 /)
  t.is(await late.closed(), '')

  fixture.clock.advance(hour - 1)
  t.regex(await (await fixture.connect()).reply(), /^421 4\.7\.0 /)
  fixture.clock.advance(1)
  t.deepEqual(await ask(fixture, [anna]), ['250 2.1.5'])
})

test('guesses: addresses unlike a return path do not count', async (t) => {
  const fixture = await startFixture(t)
  const { anna = '', local = '', domain = '' } = fixture.names
  // another key created the first, as before a change of the master key
  const others = [`b${local[1] === '0' ? '1' : '0'}${local.slice(2)}@${domain}`, `info@${domain}`, `${local.slice(1)}@${domain}`]
  for (let round = 0; round < 10; round++)
    t.deepEqual(
      await ask(fixture, others),
      others.map(() => '550 5.1.1'),
    )
  t.deepEqual(await ask(fixture, [anna]), ['250 2.1.5'])
})
