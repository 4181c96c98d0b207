/** Quick checks of sender domains: their counts, the limits of rows and findings, and the removal of old rows. */
import test from '#test'
import { countSender, senderLetters } from '#core/insights/count.ts'
import { maxSenders, senderDays } from '#core/insights/levels.ts'
import { rowsOf } from '#core/insights/rows.ts'
import type { Counts } from '#store/tally.ts'
import { coreFixture, organizationId, projectDefaults, projectId } from '../core-fixture.ts'
import { projects } from '#core/tenancy/organization.ts'
import { factsDefaults } from '../records.ts'
import { day, hour, place, Watched } from './watched.ts'

type Test = Parameters<typeof coreFixture>[0]

const watched = async (t: Test): Promise<Watched> => Watched.of(await coreFixture(t))
const mail = (here: Watched, domain: string, many: number, where = place): Promise<void> =>
  here.count((change, now) => {
    for (let n = 0; n < many; n++) countSender(change, where, domain, now)
    here.fixture.part('watch').note(organizationId, where.projectId)
  })
const found = async (here: Watched): Promise<string[]> => {
  const open = (await here.findings()).filter(({ state }) => state === 'open')
  return open.map(({ subject, params }) => `${subject} ${params['count']}`).toSorted()
}
const rows = async (here: Watched): Promise<Counts[]> => {
  const all: Counts[] = []
  for await (const { counts } of rowsOf(here.fixture.database, senderDays, place, { from: 0, to: here.now + day })) all.push(counts)
  return all
}

test('domain.unknown: ends when the messages of seven days are fewer than ten', async (t) => {
  const here = await watched(t)
  await mail(here, 'rigi.example', 5)
  await here.pass(3 * day)
  await mail(here, 'rigi.example', 5)
  await here.round()
  t.deepEqual(await found(here), ['rigi.example 10'])
  await here.pass(3 * day)
  t.deepEqual(await found(here), ['rigi.example 10'])
  await here.pass(day + hour)
  t.deepEqual(await found(here), [])
})

test('domain.unknown: without mail, no look follows before the next day', async (t) => {
  const here = await watched(t)
  await mail(here, 'rigi.example', 10)
  await here.round()
  let reads = 0
  const { database } = here.fixture
  const list = database.list.bind(database)
  database.list = ((...args: Parameters<typeof list>) => (reads++, list(...args))) as typeof list
  await here.pass(hour)
  t.is(reads, 0)
  await here.pass(day)
  t.true(reads > 0)
  t.deepEqual(await found(here), ['rigi.example 10'])
})

test('domain.unknown: a row and the findings of a project are limited, and keep the domains with most mail', async (t) => {
  const here = await watched(t)
  for (let n = 10; n < 60; n++) await mail(here, `d${n}.example`, n)
  await here.round()
  t.is((await found(here)).length, 20)
  t.true((await found(here)).includes('d59.example 59'))
  const [row] = await rows(here)
  t.is([...(row?.keys() ?? [])].filter((name) => name.length > 1).length, maxSenders)
  t.is(
    [...(row?.values() ?? [])].reduce((sum, many) => sum + many, 0),
    1725,
    'the sum stays exact',
  )
})

test('domain.unknown: names without a valid domain have no finding', async (t) => {
  const here = await watched(t)
  for (const domain of ['localhost', '[192.0.2.1]', '192.0.2.1', 'a b.example', `${'long.'.repeat(30)}example`])
    await mail(here, domain, 10)
  await here.round()
  t.deepEqual(await found(here), [])
})

test('domain.unknown: a domain of two projects has one finding', async (t) => {
  const here = await watched(t)
  const other = { organizationId, projectId: 'prj_2' }
  await here.fixture.put(projects, { ...projectDefaults, id: other.projectId, name: 'Other', isDefault: false })
  await mail(here, 'rigi.example', 10)
  await here.round()
  await mail(here, 'rigi.example', 12, other)
  await here.round()
  t.is((await here.finding('domain.unknown'))?.projectId, projectId)
  t.deepEqual(await found(here), ['rigi.example 10'])
})

test('senders: each accepted message counts, also a captured one; rows are removed after eight days', async (t) => {
  const here = await watched(t)
  const { fixture } = here
  for (const headerFrom of ['a@Rigi.example', 'b@rigi.example', 'b@gmail.com', ''])
    await fixture.submit({ facts: { ...factsDefaults, headerFrom } })
  t.deepEqual(
    (await rows(here)).map((counts) => [...counts].filter(([name]) => name.startsWith(senderLetters.unknown))),
    [[['frigi.example', 2]]],
  )
  const rollUp = fixture.part('rollUp')
  await here.pass(7 * day)
  await rollUp.rollUp()
  t.is((await rows(here)).length, 1)
  await here.pass(2 * day)
  await rollUp.rollUp()
  t.is((await rows(here)).length, 0)
  await fixture.assertSound(t)
})
