/** A report without proof, then the same with proof: from a mailbox, posted, and in every mail format. */
import test from '#test'
import { complaint, event, intakeOf, mailed, sendingFixture, sentMessage, signed, tokenOf } from './reports.ts'

for (const origin of [signed, mailed])
  for (const format of ['dsn', 'arf'] as const)
    test(`${origin.channel}, ${format}: the same report with proof counts, once`, async (t) => {
      const fixture = await sendingFixture(t)
      const { feedback } = intakeOf(fixture)
      const trace = await sentMessage(fixture)
      const make = format === 'dsn' ? event : complaint
      const messageIds = [`<${trace.messageId}>`]
      const told = (token: boolean) => make({ key: 'k', format, clues: { messageIds, ...(token && tokenOf(trace)) } })
      const take = async (...tokens: boolean[]) =>
        (await feedback.take(origin, tokens.map(told))).map(({ result, isUnverified }) => [result, isUnverified])
      t.deepEqual(await take(false), [['recorded', true]])
      t.deepEqual(await take(false, false), [
        ['duplicate', false],
        ['duplicate', false],
      ])
      t.is((await fixture.trace(trace.id)).status, 'sent')
      t.deepEqual(await take(true), [['recorded', false]])
      t.is((await fixture.trace(trace.id)).status, format === 'dsn' ? 'bounced' : 'complained')
      t.deepEqual(await take(true, false), [
        ['duplicate', false],
        ['duplicate', false],
      ])
      await fixture.assertSound(t)
    })

test('both in one batch: the report with proof counts', async (t) => {
  const fixture = await sendingFixture(t)
  const { feedback } = intakeOf(fixture)
  const trace = await sentMessage(fixture)
  const plain = { key: 'k', clues: { messageIds: [`<${trace.messageId}>`] } }
  const taken = await feedback.take(mailed, [event(plain), event({ ...plain, clues: { ...plain.clues, ...tokenOf(trace) } })])
  t.deepEqual(
    taken.map(({ result, isUnverified }) => [result, isUnverified]),
    [
      ['recorded', true],
      ['recorded', false],
    ],
  )
  t.is((await fixture.trace(trace.id)).status, 'bounced')
  t.is((await feedback.take(mailed, [event(plain)]))[0]?.result, 'duplicate')
  await fixture.assertSound(t)
})
