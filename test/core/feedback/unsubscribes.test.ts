/** Opt-outs of lists at send and before every attempt, their ownership, and unsubscribes of earlier versions. */
import test, { type ExecutionContext } from '#test'
import { earlierSuppression } from './earlier-suppression.ts'
import { moveEarlierUnsubscribes } from '#core/feedback/suppression/move-unsubscribes.ts'
import { namedList, optOuts, senderList, type MailingList } from '#core/feedback/suppression/opt-out.ts'
import { suppressions } from '#core/feedback/suppression/suppression.ts'
import { removeTrace } from '#core/retention/remove-trace.ts'
import { readReports, traceReports, type TraceReport } from '#core/trace/trace-report.ts'
import { traces, type Trace } from '#core/trace/trace.ts'
import { encode, Change } from '#store/change.ts'
import { globalKey } from '#store/record-kind.ts'
import { organizationId, projectId, principal, type CoreFixture } from '../core-fixture.ts'
import { report } from '../scripted-transport.ts'
import {
  complaint,
  event,
  intakeOf,
  sendingFixture,
  suppressingFixture,
  sentMessage,
  signed,
  sound,
  switchFlag,
  tokenOf,
} from './reports.ts'
import { column } from '../../support/column.ts'

const linkOf = (fixture: CoreFixture, traceId: string): string =>
  fixture.core.unsubscribes.fieldsFor(traceId)[0]?.value.slice(1, -1).split('/').at(-1) ?? ''

const sender = senderList('shop@example.com')
const news = namedList(projectId, 'News')

const mailOf = (list: MailingList | undefined) => ({ destinationId: 'dst_1', ...(list && { list, unsubscribeLink: 'public' as const }) })

const leave = async (fixture: CoreFixture, list: MailingList): Promise<void> => {
  const { id } = await sentMessage(fixture, mailOf(list))
  await fixture.core.unsubscribes.unsubscribe(linkOf(fixture, id))
}

const moved = async ({ database, policies, clock }: CoreFixture): Promise<void> => {
  const { organization } = await policies.of(organizationId)
  await moveEarlierUnsubscribes({ database, organization, nowMs: clock.now() }, () => false)
}

/** Returns whether mail reaches Anna, for each list and for mail without a list. */
const reaching = async (fixture: CoreFixture, lists: readonly (MailingList | undefined)[]): Promise<boolean[]> =>
  Promise.all(lists.map(async (list) => (await fixture.submit(mailOf(list))).status !== 'suppressed'))

test('an opt-out stops mail of its list only', async (t) => {
  const fixture = await sendingFixture(t)
  const lists = [sender, news, namedList(projectId, 'Offers'), namedList('prj_2', 'News'), senderList('SHOP@example.com'), undefined]
  t.deepEqual(await reaching(fixture, lists), [true, true, true, true, true, true])
  await leave(fixture, news)
  t.deepEqual(await reaching(fixture, lists), [true, false, true, true, true, true])
  await leave(fixture, sender)
  t.deepEqual(await reaching(fixture, lists), [false, false, true, true, false, true])
  t.deepEqual(await fixture.database.all(suppressions, { organizationId }), [])
  await sound(t, fixture)
})

test('waiting mail is not attempted again after its recipient leaves the list', async (t) => {
  const fixture = await sendingFixture(t)
  fixture.transport.script = (call) => report(call, 'transient')
  const { traceId } = await fixture.submit(mailOf(news))
  const { traceId: other } = await fixture.submit(mailOf(undefined))
  await fixture.settled()
  t.is(fixture.attempted.length, 2, 'both were tried')
  await fixture.core.unsubscribes.unsubscribe(linkOf(fixture, traceId))
  fixture.clock.advance(3_600_000)
  await fixture.settled()
  t.is((await fixture.trace(traceId)).status, 'suppressed', 'the message is withheld')
  t.is(fixture.transport.attemptsAt(other).length, 2, 'the other recipient is tried again')
  t.is(fixture.transport.attemptsAt(traceId).length, 1)
})

test("two concurrent clicks are one opt-out; an old link opts out of the sender's list", async (t) => {
  const fixture = await sendingFixture(t)
  const { id } = await sentMessage(fixture, mailOf(news))
  const stored = await fixture.database.get(traces, { organizationId }, id)
  const { list: _, ...old } = stored?.record ?? ({} as Trace)
  await fixture.put<Trace>(traces, old)
  const { unsubscribes } = fixture.core
  await Promise.all([1, 2, 3].map(() => unsubscribes.unsubscribe(linkOf(fixture, id))))
  t.deepEqual(column(await fixture.database.all(optOuts, { organizationId }), 'record', 'list'), [
    senderList(old.headerFrom || old.mailFrom).key,
  ])
  t.true((await unsubscribes.look(linkOf(fixture, id))).isUnsubscribed)
  t.true(await removeTrace(fixture.database, organizationId, id, fixture.clock.now()))
  const kept = { organizationId, projectId, traceId: id, recipient: 'zoe@example.net', sender: 'shop@example.com' }
  await fixture.database.commit(new Change().set(globalKey('unsubscribe.kept', id), encode(kept)))
  t.like(await unsubscribes.look(linkOf(fixture, id)), { recipient: 'zoe@example.net', list: sender, isUnsubscribed: false })
})

/** A fixture with an unsubscribe from before lists existed. */
async function withEarlier(t: ExecutionContext): Promise<CoreFixture> {
  const fixture = await sendingFixture(t)
  await fixture.database.commit(new Change().insert(suppressions, organizationId, earlierSuppression(fixture.database, 'anna@example.net')))
  return fixture
}

test('an old unsubscribe stops every list and nothing else, before and after migration', async (t) => {
  const fixture = await withEarlier(t)
  t.deepEqual(await reaching(fixture, [sender, news, undefined]), [false, false, true])
  for (let i = 0; i < 2; i++) await moved(fixture)
  t.deepEqual(await fixture.database.all(suppressions, { organizationId }), [])
  t.deepEqual(
    (await fixture.database.all(optOuts, { organizationId })).map(({ record: { email, name } }) => [email, name]),
    [['anna@example.net', null]],
  )
  t.deepEqual(await reaching(fixture, [sender, news, undefined]), [false, false, true])
  const { rows } = await fixture.core.unsubscribes.list(principal, { limit: 10 })
  await fixture.core.unsubscribes.remove(principal, rows[0]?.id ?? '')
  t.deepEqual(await reaching(fixture, [sender, news]), [true, true])
  await sound(t, fixture)
})

test('an old unsubscribe ends at its expiry, and an expired one has no effect', async (t) => {
  const fixture = await sendingFixture(t)
  const now = fixture.clock.now()
  const entry = earlierSuppression(fixture.database, 'anna@example.net')
  await fixture.put(suppressions, { ...entry, expiresAt: now + 5000 })
  await moved(fixture)
  t.deepEqual(await reaching(fixture, [news]), [false])
  t.is((await fixture.database.all(optOuts, { organizationId })).length, 0, 'opt-outs do not expire')
  fixture.clock.advance(6000)
  t.deepEqual(await reaching(fixture, [sender, news, undefined]), [true, true, true])
  t.true((await fixture.core.suppressions.add(principal, { email: 'anna@example.net' })).added)
  t.is((await fixture.database.all(optOuts, { organizationId })).length, 0, 'expired entries are not migrated either')
  await sound(t, fixture)
})

for (const [told, source] of [
  [event, 'bounce'],
  [complaint, 'complaint'],
] as const)
  test(`a ${source} that an old unsubscribe replaced is suppressed after the migration`, async (t) => {
    const fixture = await suppressingFixture(t)
    const trace = await sentMessage(fixture)
    await intakeOf(fixture).feedback.take(signed, [told({ clues: tokenOf(trace) })])
    const [made] = await fixture.database.all(suppressions, { organizationId })
    // The earlier version kept the unsubscribe, and the report without a suppression.
    if (made) await fixture.database.commit(new Change().remove(suppressions, organizationId, made))
    for (const { record } of await readReports(fixture.database, organizationId, trace.id))
      await fixture.put<TraceReport>(traceReports, { ...record, suppression: null, isStructured: undefined, maySuppress: undefined })
    await fixture.database.commit(
      new Change().insert(suppressions, organizationId, earlierSuppression(fixture.database, 'anna@example.net')),
    )
    await moved(fixture)
    t.deepEqual(column(await fixture.database.all(suppressions, { organizationId }), 'record', 'source'), [source])
    t.is((await fixture.database.all(optOuts, { organizationId })).length, 1)
    t.deepEqual(await reaching(fixture, [undefined]), [false])
    await sound(t, fixture)
  })

test('a recipient who left all lists shows as unsubscribed; another click adds nothing', async (t) => {
  const fixture = await withEarlier(t)
  await moved(fixture)
  const { id } = await sentMessage(fixture, { ...mailOf(news), rcptTo: ['zoe@example.net'] })
  const { recipients } = await fixture.trace(id)
  await fixture.edit(traces, id, { recipients: recipients.map((one) => ({ ...one, address: 'anna@example.net' })) })
  t.true((await fixture.core.unsubscribes.look(linkOf(fixture, id))).isUnsubscribed)
  await fixture.core.unsubscribes.unsubscribe(linkOf(fixture, id))
  t.is((await fixture.database.all(optOuts, { organizationId })).length, 1)
})

test('a project key removes only the opt-outs that it sees', async (t) => {
  const fixture = await sendingFixture(t)
  await leave(fixture, sender)
  const unsubscribes = fixture.core.unsubscribes
  const [entry] = (await unsubscribes.list(principal, { limit: 10 })).rows
  await unsubscribes.remove({ ...principal, projectId: 'prj_2', bound: true }, entry?.id ?? '')
  t.is((await unsubscribes.list(principal, { limit: 10 })).rows.length, 1)
  await unsubscribes.remove({ ...principal, projectId, bound: true }, entry?.id ?? '')
  t.is((await unsubscribes.list(principal, { limit: 10 })).rows.length, 0)
})

for (const by of ['a bounce', 'hand'])
  test(`a suppression by ${by} replaces an old unsubscribe, which becomes an opt-out`, async (t) => {
    const fixture = await withEarlier(t)
    await switchFlag(fixture, 'bounce_auto_suppress', true)
    const { suppressions: lists } = fixture.core
    if (by === 'hand') t.true((await lists.add(principal, { email: 'anna@example.net' })).added)
    else {
      const trace = await sentMessage(fixture)
      t.like((await intakeOf(fixture).feedback.take(signed, [event({ clues: tokenOf(trace) })]))[0], { suppressed: true })
    }
    t.deepEqual(await reaching(fixture, [sender, news, undefined]), [false, false, false])
    const { rows } = await lists.list(principal, { limit: 10 })
    t.is(rows.length, 1)
    await lists.remove(principal, rows[0]?.id ?? '')
    t.deepEqual(await reaching(fixture, [sender, news, undefined]), [false, false, true])
    await sound(t, fixture)
  })
