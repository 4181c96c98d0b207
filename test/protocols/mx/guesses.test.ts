/** Clients that guess return paths. */
import test from 'ava'
import { startRig, type Rig } from './rig.ts'

const hour = 3_600_000

/** The answers to a RCPT for each of the addresses, in a session of its own. */
async function ask({ connect }: Rig, addresses: readonly string[]): Promise<string[]> {
  const client = await connect()
  await client.reply()
  await client.command('EHLO relay.test')
  await client.command('MAIL FROM:<>')
  const answers: string[] = []
  for (const address of addresses) answers.push((await client.command(`RCPT TO:<${address}>`)).slice(0, 9))
  client.destroy()
  return answers
}

test('A client that guessed twenty return paths is not listened to for an hour, in any session and for any address', async (t) => {
  const rig = await startRig(t)
  const { forged = '', anna = '', 'forged-srs0': wrapped = '' } = rig.names
  const waiting = await rig.connect()
  await waiting.reply()
  await waiting.command('EHLO relay.test')
  await waiting.command('MAIL FROM:<>')

  const guesses = Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? forged : wrapped))
  t.deepEqual(await ask(rig, [...guesses, anna]), [...guesses.map(() => '550 5.1.1'), '250 2.1.5'], 'ten')
  t.deepEqual(
    await ask(rig, guesses),
    guesses.map(() => '550 5.1.1'),
    'twenty',
  )

  t.regex(await waiting.command(`RCPT TO:<${anna}>`), /^421 4\.7\.0 Too many unknown return paths/)
  t.is(await waiting.closed(), '')
  const late = await rig.connect()
  t.regex(await late.reply(), /^421 4\.7\.0 /)
  t.is(await late.closed(), '')

  rig.clock.advance(hour - 1)
  t.regex(await (await rig.connect()).reply(), /^421 4\.7\.0 /)
  rig.clock.advance(1)
  t.deepEqual(await ask(rig, [anna]), ['250 2.1.5'])
})

test('Addresses that nobody could take for a return path are no guesses', async (t) => {
  const rig = await startRig(t)
  const { anna = '', local = '', domain = '' } = rig.names
  // another key made the first, as before a change of the master key
  const others = [`b${local[1] === '0' ? '1' : '0'}${local.slice(2)}@${domain}`, `info@${domain}`, `${local.slice(1)}@${domain}`]
  for (let round = 0; round < 10; round++)
    t.deepEqual(
      await ask(rig, others),
      others.map(() => '550 5.1.1'),
    )
  t.deepEqual(await ask(rig, [anna]), ['250 2.1.5'])
})
