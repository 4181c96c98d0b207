/** Opt-outs of lists at send and before every attempt, whose lists they are, and what unsubscribes of earlier versions mean. */
import test, { type ExecutionContext } from 'ava'
import { earlierSuppression } from './earlier-suppression.ts'
import { moveEarlierUnsubscribes } from '#core/feedback/suppression/move-unsubscribes.ts'
import { namedList, optOuts, senderList, type MailingList } from '#core/feedback/suppression/opt-out.ts'
import { suppressions } from '#core/feedback/suppression/suppression.ts'
import { removeTrace } from '#core/retention/remove-trace.ts'
import { readReports, traceReports, type TraceReport } from '#core/trace/trace-report.ts'
import { traces, type Trace } from '#core/trace/trace.ts'
import { encode, Change } from '#store/change.ts'
import { globalKey } from '#store/record-kind.ts'
import { organizationId, projectId, quiet, principal, until, type House } from '../house.ts'
import { report } from '../scripted-transport.ts'
import { complaint, event, intakeOf, sendingHouse, suppressingHouse, sentMessage, signed, sound, switchFlag, tokenOf } from './reports.ts'
import { column } from '../../support/column.ts'

const linkOf = (house: House, traceId: string): string =>
  house.core.unsubscribes.fieldsFor(traceId)[0]?.value.slice(1, -1).split('/').at(-1) ?? ''

const sender = senderList('shop@example.com')
const news = namedList(projectId, 'News')

const mailOf = (list: MailingList | undefined) => ({ destinationId: 'dst_1', ...(list && { list, unsubscribeLink: 'public' as const }) })

const leave = async (house: House, list: MailingList): Promise<void> => {
  const { id } = await sentMessage(house, mailOf(list))
  await house.core.unsubscribes.unsubscribe(linkOf(house, id))
}

const moved = async ({ database, policies, clock }: House): Promise<void> => {
  const { organization } = await policies.of(organizationId)
  await moveEarlierUnsubscribes({ database, organization, nowMs: clock.now() }, () => false)
}

/** Which mail reaches Anna: of each list, and of none. */
const reaching = async (house: House, lists: readonly (MailingList | undefined)[]): Promise<boolean[]> =>
  Promise.all(lists.map(async (list) => (await house.submit(mailOf(list))).status !== 'suppressed'))

test('an opt-out stops the mail of its list, and no other', async (t) => {
  const house = await sendingHouse(t)
  const lists = [sender, news, namedList(projectId, 'Offers'), namedList('prj_2', 'News'), senderList('SHOP@example.com'), undefined]
  t.deepEqual(await reaching(house, lists), [true, true, true, true, true, true])
  await leave(house, news)
  t.deepEqual(await reaching(house, lists), [true, false, true, true, true, true])
  await leave(house, sender)
  t.deepEqual(await reaching(house, lists), [false, false, true, true, false, true])
  t.deepEqual(await house.database.all(suppressions, { organizationId }), [])
  await sound(t, house)
})

test('mail that waits for its retry is not handed over any more when its recipient leaves the list', async (t) => {
  const house = await sendingHouse(t)
  house.transport.script = (call) => report(call, 'transient')
  const { traceId } = await house.submit(mailOf(news))
  const { traceId: other } = await house.submit(mailOf(undefined))
  await until('both were tried', () => house.attempted.length === 2)
  await quiet(house)
  await house.core.unsubscribes.unsubscribe(linkOf(house, traceId))
  house.clock.advance(3_600_000)
  await until('it is kept back', async () => (await house.trace(traceId)).status === 'suppressed')
  await until('the other is tried again', () => house.transport.attemptsAt(other).length === 2)
  t.is(house.transport.attemptsAt(traceId).length, 1)
})

test('two clicks at the same moment are one opt-out, and a link of an earlier version leaves the list of the sender', async (t) => {
  const house = await sendingHouse(t)
  const { id } = await sentMessage(house, mailOf(news))
  const stored = await house.database.get(traces, { organizationId }, id)
  const { list: _, ...old } = stored?.record ?? ({} as Trace)
  await house.put<Trace>(traces, old)
  const { unsubscribes } = house.core
  await Promise.all([1, 2, 3].map(() => unsubscribes.unsubscribe(linkOf(house, id))))
  t.deepEqual(column(await house.database.all(optOuts, { organizationId }), 'record', 'list'), [
    senderList(old.headerFrom || old.mailFrom).key,
  ])
  t.true((await unsubscribes.look(linkOf(house, id))).isUnsubscribed)
  t.true(await removeTrace(house.database, organizationId, id, house.clock.now()))
  const kept = { organizationId, projectId, traceId: id, recipient: 'zoe@example.net', sender: 'shop@example.com' }
  await house.database.commit(new Change().set(globalKey('unsubscribe.kept', id), encode(kept)))
  t.like(await unsubscribes.look(linkOf(house, id)), { recipient: 'zoe@example.net', list: sender, isUnsubscribed: false })
})

/** A house with an unsubscribe of before there were lists. */
async function withEarlier(t: ExecutionContext): Promise<House> {
  const house = await sendingHouse(t)
  await house.database.commit(new Change().insert(suppressions, organizationId, earlierSuppression('anna@example.net')))
  return house
}

test('an unsubscribe of an earlier version stops every list and nothing else, before and after it is moved', async (t) => {
  const house = await withEarlier(t)
  t.deepEqual(await reaching(house, [sender, news, undefined]), [false, false, true])
  for (let i = 0; i < 2; i++) await moved(house)
  t.deepEqual(await house.database.all(suppressions, { organizationId }), [])
  t.deepEqual(
    (await house.database.all(optOuts, { organizationId })).map(({ record: { email, name } }) => [email, name]),
    [['anna@example.net', null]],
  )
  t.deepEqual(await reaching(house, [sender, news, undefined]), [false, false, true])
  const { rows } = await house.core.unsubscribes.list(principal, { limit: 10 })
  await house.core.unsubscribes.remove(principal, rows[0]?.id ?? '')
  t.deepEqual(await reaching(house, [sender, news]), [true, true])
  await sound(t, house)
})

test('an unsubscribe of an earlier version ends when it was to end, and one that has ended is none', async (t) => {
  const house = await sendingHouse(t)
  const now = house.clock.now()
  const entry = earlierSuppression('anna@example.net')
  await house.put(suppressions, { ...entry, expiresAt: now + 5000 })
  await moved(house)
  t.deepEqual(await reaching(house, [news]), [false])
  t.is((await house.database.all(optOuts, { organizationId })).length, 0, 'opt-outs have no end')
  house.clock.advance(6000)
  t.deepEqual(await reaching(house, [sender, news, undefined]), [true, true, true])
  t.true((await house.core.suppressions.add(principal, { email: 'anna@example.net' })).added)
  t.is((await house.database.all(optOuts, { organizationId })).length, 0, 'what has ended is not moved either')
  await sound(t, house)
})

for (const [told, source] of [
  [event, 'bounce'],
  [complaint, 'complaint'],
] as const)
  test(`who had unsubscribed before a ${source} of an earlier version is suppressed for it`, async (t) => {
    const house = await suppressingHouse(t)
    const trace = await sentMessage(house)
    await intakeOf(house).feedback.take(signed, [told({ clues: tokenOf(trace) })])
    const [made] = await house.database.all(suppressions, { organizationId })
    // the earlier version left the unsubscribe in its place, and the report without a suppression
    if (made) await house.database.commit(new Change().remove(suppressions, organizationId, made))
    for (const { record } of await readReports(house.database, organizationId, trace.id))
      await house.put<TraceReport>(traceReports, { ...record, suppression: null, isStructured: undefined, maySuppress: undefined })
    await house.database.commit(new Change().insert(suppressions, organizationId, earlierSuppression('anna@example.net')))
    await moved(house)
    t.deepEqual(column(await house.database.all(suppressions, { organizationId }), 'record', 'source'), [source])
    t.is((await house.database.all(optOuts, { organizationId })).length, 1)
    t.deepEqual(await reaching(house, [undefined]), [false])
    await sound(t, house)
  })

test('who left every list is shown as unsubscribed, and another click adds nothing', async (t) => {
  const house = await withEarlier(t)
  await moved(house)
  const { id } = await sentMessage(house, { ...mailOf(news), rcptTo: ['zoe@example.net'] })
  const { recipients } = await house.trace(id)
  await house.edit(traces, id, { recipients: recipients.map((one) => ({ ...one, address: 'anna@example.net' })) })
  t.true((await house.core.unsubscribes.look(linkOf(house, id))).isUnsubscribed)
  await house.core.unsubscribes.unsubscribe(linkOf(house, id))
  t.is((await house.database.all(optOuts, { organizationId })).length, 1)
})

test('a key of one project takes back only the opt-outs that it sees', async (t) => {
  const house = await sendingHouse(t)
  await leave(house, sender)
  const unsubscribes = house.core.unsubscribes
  const [entry] = (await unsubscribes.list(principal, { limit: 10 })).rows
  await unsubscribes.remove({ ...principal, projectId: 'prj_2', bound: true }, entry?.id ?? '')
  t.is((await unsubscribes.list(principal, { limit: 10 })).rows.length, 1)
  await unsubscribes.remove({ ...principal, projectId, bound: true }, entry?.id ?? '')
  t.is((await unsubscribes.list(principal, { limit: 10 })).rows.length, 0)
})

for (const by of ['a bounce', 'hand'])
  test(`a suppression by ${by} takes the place of an unsubscribe of an earlier version, which becomes an opt-out`, async (t) => {
    const house = await withEarlier(t)
    await switchFlag(house, 'bounce_auto_suppress', true)
    const { suppressions: lists } = house.core
    if (by === 'hand') t.true((await lists.add(principal, { email: 'anna@example.net' })).added)
    else {
      const trace = await sentMessage(house)
      t.like((await intakeOf(house).feedback.take(signed, [event({ clues: tokenOf(trace) })]))[0], { suppressed: true })
    }
    t.deepEqual(await reaching(house, [sender, news, undefined]), [false, false, false])
    const { rows } = await lists.list(principal, { limit: 10 })
    t.is(rows.length, 1)
    await lists.remove(principal, rows[0]?.id ?? '')
    t.deepEqual(await reaching(house, [sender, news, undefined]), [false, false, true])
    await sound(t, house)
  })
