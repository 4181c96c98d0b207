/** Limits of notices for the mail of one credential. */
import test from '#test'
import { minute, noticeTraces, noticing, outcomes, send } from './notices-fixture.ts'

test('a credential causes about 20 notices an hour; traces show others as limited', async (t) => {
  const fixture = await noticing(t)
  const ids: string[] = []
  for (let i = 0; i < 22; i++) ids.push(await send(fixture))
  await fixture.pass(2 * minute)
  const all = (await Promise.all(ids.map((id) => fixture.trace(id)))).flatMap(outcomes)
  t.is(all.filter((one) => one === 'sent').length, 20)
  t.is(all.filter((one) => one === 'limit').length, 2)
  t.is((await noticeTraces(fixture)).length, 20)
  await fixture.pass(2 * 60 * minute)
  const later = await send(fixture)
  await fixture.pass(minute)
  t.deepEqual(outcomes(await fixture.trace(later)), ['sent'])
})

test('notices: a credential causes 100 a day, and more after a day', async (t) => {
  const fixture = await noticing(t)
  const hourOf = async (): Promise<readonly string[]> => {
    const ids: string[] = []
    for (let i = 0; i < 20; i++) ids.push(await send(fixture))
    await fixture.pass(2 * minute)
    const ends = (await Promise.all(ids.map((id) => fixture.trace(id)))).flatMap(outcomes)
    await fixture.pass(70 * minute)
    return ends
  }
  const all = (outcome: string): readonly string[] => Array.from({ length: 20 }, () => outcome)
  for (let hour = 0; hour < 5; hour++) t.deepEqual(await hourOf(), all('sent'), `hour ${hour}`)
  t.deepEqual(await hourOf(), all('limit'))
  t.is((await noticeTraces(fixture)).length, 100)
  await fixture.pass(20 * 60 * minute)
  t.deepEqual(await hourOf(), all('sent'))
})
