/** Quick checks of mail: each condition becomes true and false with counts of a real store. */
import test from '#test'
import { count, countAttempt, countFate, projectNames, type CountedAttempt } from '#core/insights/count.ts'
import { traces } from '#core/trace/trace.ts'
import { findings } from '#core/findings/finding.ts'
import { findingText } from '#core/findings/finding-text.ts'
import { coreFixture, organizationId, principal, projectId, relaying, relayingFixture } from '../core-fixture.ts'
import { factsDefaults } from '../records.ts'
import { doorOf, login, submit } from '../submission/smtp/smtp-fixture.ts'
import { report, take } from '../scripted-transport.ts'
import { day, hour, minute, place, Watched } from './watched.ts'

type Test = Parameters<typeof coreFixture>[0]

const names = (many: number): string[] => Array.from({ length: many }, (_, n) => `r${n}@example.net`)

const watched = async (t: Test): Promise<Watched> => Watched.of(await relayingFixture(t))

/** Counts one attempt with this number of recipients for each result. */
const attempt = (here: Watched, ends: Partial<Record<'taken' | 'failed' | 'deferred', number>>, more: Partial<CountedAttempt> = {}) =>
  here.count((change, now) =>
    countAttempt(
      change,
      place,
      {
        ...{ destinationId: 'dst_1', isError: false, isRetry: false, timings: {} },
        ...{ taken: names(ends.taken ?? 0), failed: names(ends.failed ?? 0), deferred: names(ends.deferred ?? 0) },
        ...more,
      },
      now,
    ),
  )

const fates = (here: Watched, fate: 'bounced' | 'complained', many: number) =>
  here.count((change, now) => {
    for (const name of names(many)) countFate(change, { ...place, destinationId: 'dst_1' }, fate, name, { at: now, levels: [] })
  })

test('watch: a service without mail has no timer, and a look without news writes nothing', async (t) => {
  const here = await watched(t)
  const { clock, database } = here.fixture
  const timers = clock.pending
  await here.pass(hour)
  t.is(clock.pending, timers)
  await attempt(here, { taken: 1 })
  t.is(clock.pending, timers + 1)
  const before = database.commits
  await here.round()
  t.deepEqual([database.commits, clock.pending], [before, timers], 'no round follows')
})

test('route.missing: captured mail without a rule, while a destination is live', async (t) => {
  const fixture = await coreFixture(t)
  const here = await Watched.of(fixture)
  await fixture.submit()
  await here.round()
  t.deepEqual(await here.open(), [], 'a project without a live destination captures all mail')
  await fixture.destination()
  await fixture.submit()
  await here.round()
  t.deepEqual(await here.open(), ['route.missing warning'])
  t.is(
    await here.summary('route.missing'),
    '2 messages of the project Default matched no routing rule within 24 hours and were captured instead of sent.',
  )
  await here.pass(26 * hour)
  t.deepEqual(await here.open(), [])
})

test('route.missing: has the id of the only live destination, and ends when all mail has a route', async (t) => {
  const fixture = await coreFixture(t)
  const here = await Watched.of(fixture)
  const { destinations, routingRules } = fixture.core
  const only = await fixture.destination()
  await fixture.submit()
  await here.round()
  t.like((await here.finding('route.missing'))?.params, { destination: only.name, destinationId: only.id, scope: 'project' })
  await routingRules.create(principal, { match: { domain: 'other.example' }, destinationId: only.id, projectId })
  await here.pass(2 * minute)
  t.deepEqual(await here.open(), ['route.missing warning'], 'the rule matches another sender')
  const { route } = await destinations.promoteToLive(principal, only.id, { defaultRoute: true })
  await here.pass(minute)
  t.deepEqual(await here.open(), [])
  await routingRules.remove(principal, route.ruleId ?? '')
  await fixture.submit()
  await here.round()
  await fixture.destination({ id: 'dst_2' })
  await here.pass(2 * hour)
  const { params = {} } = (await here.finding('route.missing')) ?? {}
  t.deepEqual([params['destination'], params['destinationId']], ['several', undefined])
})

test('route.missing: refused mail without a rule', async (t) => {
  const fixture = await coreFixture(t)
  const here = await Watched.of(fixture)
  await fixture.destination()
  await fixture.project({ noRoutePolicy: 'reject' })
  await t.throwsAsync(fixture.submit())
  await here.pass(minute)
  t.is(await here.summary('route.missing'), '1 message of the project Default matched no routing rule within 24 hours and was refused.')
})

test('route.missing: the title has the domain with most messages, and the number of others', async (t) => {
  const fixture = await coreFixture(t)
  const here = await Watched.of(fixture)
  await fixture.destination()
  const from = (headerFrom: string) => fixture.submit({ facts: { ...factsDefaults, headerFrom } })
  const title = async (language?: string) => {
    const found = await here.finding('route.missing')
    return found && findingText(found, language).title
  }
  for (const sender of ['a@other.example', 'a@Bellevue.example', 'b@bellevue.example']) await from(sender)
  await here.round()
  t.is(await title(), 'Mail from bellevue.example and one other domain is captured')
  t.is(await title('de'), 'E-Mails von bellevue.example und einer weiteren Domain werden abgefangen')
  await here.pass(26 * hour)
  await fixture.project({ noRoutePolicy: 'reject' })
  for (let n = 0; n < 3; n++) await t.throwsAsync(from('c@third.example'), { code: 'no_route' })
  await here.pass(minute)
  t.is(await title(), 'Mail from third.example and 2 other domains is refused', 'the domains of today and yesterday')
  await here.pass(3 * day)
  t.is(await title(), undefined)
})

test('route.missing: captures of sandbox agents and tests of templates have another reason', async (t) => {
  const fixture = await coreFixture(t)
  const here = await Watched.of(fixture)
  await fixture.destination()
  await fixture.submit({ isTest: true })
  await fixture.submit({ principal: { ...principal, agent: { level: 1, mostLevel: 1, sandboxOnly: true } } })
  await here.round()
  t.deepEqual(await here.open(), [])
  await fixture.submit()
  await here.round()
  t.like((await here.finding('route.missing'))?.params, { captured: 1, domain: 'example.com', more: 0 })
})

test('mail.refused: a message that SMTP refuses counts once', async (t) => {
  const fixture = await doorOf(t)
  const here = await Watched.of(fixture)
  await fixture.credential('right', { defaultDestinationId: null })
  await fixture.project({ noRoutePolicy: 'reject' })
  const session = await login(fixture)
  for (let n = 0; n < 20; n++) await t.throwsAsync(submit(session), { code: 'no_route' })
  await here.pass(minute)
  t.like((await here.finding('mail.refused'))?.params, { some: 20, all: 20, code: 'no_route' })
  t.like((await here.finding('route.missing'))?.params, { refused: 20, domain: 'example.com' })
})

test('destination.failing: at least half of three attempts fail within an hour', async (t) => {
  const here = await watched(t)
  for (const isError of [true, false]) await attempt(here, { deferred: 1 }, { isError })
  await here.round()
  t.deepEqual(await here.open(), [], 'two attempts say little')
  await attempt(here, { deferred: 1 }, { isError: true })
  await here.round()
  t.is(await here.summary('destination.failing'), 'The destination Provider failed 2 of 3 delivery attempts within an hour (66.7 %).')
  await here.pass(75 * minute)
  t.false((await here.open()).some((one) => one.startsWith('destination.failing')))
})

test('destination.failing: ends when the latest attempts of a repaired destination succeed', async (t) => {
  const here = await watched(t)
  for (let n = 0; n < 9; n++) await attempt(here, { deferred: 1 }, { isError: true })
  await here.pass(2 * minute)
  t.true((await here.open()).includes('destination.failing error'))
  for (let n = 0; n < 3; n++) await attempt(here, { taken: 1 })
  await here.round()
  t.false((await here.open()).includes('destination.failing error'))
})

test('mail.all_failing: no recipient of five is accepted, until the first one is', async (t) => {
  let verdict: 'transient' | 'accepted' = 'transient'
  const here = await Watched.of(await relaying(t, (call) => (verdict === 'accepted' ? take(call) : report(call, verdict))))
  await here.fixture.submit({ rcptTo: names(4) })
  await here.round()
  t.deepEqual(
    (await here.open()).filter((one) => one.startsWith('mail.all')),
    [],
  )
  await here.fixture.submit({ rcptTo: names(1) })
  await here.round()
  t.regex(
    await here.summary('mail.all_failing'),
    /^No recipient of the project Default was accepted within 15 minutes: \d deliveries failed or were deferred\.$/,
  )
  verdict = 'accepted'
  await here.fixture.submit({ rcptTo: ['anna@example.net'] })
  await here.fixture.settled()
  await here.round()
  t.false((await here.open()).includes('mail.all_failing error'))
})

test('mail.all_failing: retries of four recipients are four recipients', async (t) => {
  const here = await Watched.of(await relaying(t, (call) => report(call, 'transient'), { retry: { delaysMs: [minute, minute, minute] } }))
  await here.fixture.submit({ rcptTo: names(4) })
  await here.pass(10 * minute)
  const [trace] = await here.fixture.database.all(traces, { organizationId })
  t.true((trace?.record.attempts ?? 0) > 3)
  t.false((await here.open()).includes('mail.all_failing error'))
})

test('mail.all_failing: stays open without attempts, and ends after a day', async (t) => {
  const here = await watched(t)
  await attempt(here, { failed: 5 })
  await here.round()
  await here.pass(3 * hour)
  t.true((await here.open()).includes('mail.all_failing error'))
  await here.pass(day)
  t.deepEqual(await here.open(), [])
})

test('mail.bounced: warns from 2 %, and is an error from 5 %', async (t) => {
  const here = await watched(t)
  await attempt(here, { taken: 200 })
  await fates(here, 'bounced', 4)
  await here.round()
  t.deepEqual(await here.open(), [], 'fewer than five bounces')
  await fates(here, 'bounced', 1)
  await here.round()
  t.deepEqual(await here.open(), ['mail.bounced warning'])
  t.is(await here.summary('mail.bounced'), '2.5 % of 200 recipients of the project Default bounced in the last hour.')
  await fates(here, 'bounced', 5)
  await here.round()
  t.deepEqual(await here.open(), ['mail.bounced error'])
  await attempt(here, { taken: 1000 })
  await here.round()
  t.deepEqual(await here.open(), ['mail.bounced error'], 'the second absence follows five minutes later')
  await here.pass(6 * minute)
  t.deepEqual(await here.open(), [])
})

test('mail.bounced: a few recipients have no percentage', async (t) => {
  const here = await watched(t)
  await attempt(here, { taken: 43 })
  await fates(here, 'bounced', 7)
  await here.round()
  t.is(await here.summary('mail.bounced'), '7 of 43 recipients of the project Default bounced in the last hour.')
})

test('mail.failed: failures without bounces', async (t) => {
  const here = await watched(t)
  await attempt(here, { taken: 95, failed: 4 })
  await here.round()
  t.deepEqual(await here.open(), [])
  await attempt(here, { failed: 1 })
  await here.round()
  t.deepEqual(await here.open(), ['mail.failed warning'])
  t.is(await here.summary('mail.failed'), '5 % of 100 recipients of the project Default failed in the last hour.')
  await here.pass(26 * hour)
  t.deepEqual(await here.open(), [])
})

test('mail.deferred: a quarter of recipients', async (t) => {
  const here = await watched(t)
  await attempt(here, { taken: 61, deferred: 19 })
  await here.round()
  t.deepEqual(await here.open(), [])
  await attempt(here, { deferred: 2 })
  await here.round()
  t.deepEqual(await here.open(), ['mail.deferred warning'])
  t.is(await here.summary('mail.deferred'), '25.6 % of 82 recipients of the project Default were deferred in the last hour.')
  await attempt(here, { taken: 100 })
  await here.pass(7 * minute)
  t.deepEqual(await here.open(), [])
})

test('mail.deferred: names the domains of the recipients, most deferred first', async (t) => {
  const here = await watched(t)
  const at = (domain: string, many: number): string[] => names(many).map((name) => name.replace('example.net', domain))
  const title = async (): Promise<string> => {
    const found = await here.finding('mail.deferred')
    return found ? findingText(found).title : ''
  }
  await attempt(here, { taken: 4 }, { deferred: at('bluewin.example', 20) })
  await here.round()
  t.is(await title(), '20 of 24 recipients were deferred at bluewin.example')
  await here.pass(16 * minute) // the counts are in quarters of an hour
  await attempt(here, { taken: 4 }, { deferred: [...at('rigi.example', 3), ...at('bellevue.example', 5)] })
  await here.pass(50 * minute)
  t.is(await title(), '28 of 36 recipients were deferred at bluewin.example and 2 other domains')
})

test('mail.deferred, mail.refused: end within 90 minutes after the last one, without new mail', async (t) => {
  const here = await watched(t)
  await attempt(here, { taken: 20, deferred: 20 })
  await here.count((change, now) => count(change, place, ['xquota_exceeded'], now, 20))
  await here.round()
  t.deepEqual(await here.open(), ['mail.deferred warning', 'mail.refused warning'])
  await here.pass(90 * minute)
  t.deepEqual(await here.open(), [])
})

test('mail.deferred: a retry counts its recipients no second time', async (t) => {
  const here = await watched(t)
  await attempt(here, { taken: 80, deferred: 10 })
  for (let n = 0; n < 10; n++) await attempt(here, { deferred: 10 }, { isRetry: true })
  await attempt(here, { taken: 10 }, { isRetry: true })
  await here.round()
  t.deepEqual(await here.open(), [])
  await attempt(here, { deferred: 17 })
  await here.round()
  t.is(await here.summary('mail.deferred'), '25.2 % of 107 recipients of the project Default were deferred in the last hour.')
})

test('mail.refused: a quarter of requests, with the most frequent code', async (t) => {
  const here = await watched(t)
  const requests = (name: string, times: number) => here.count((change, now) => count(change, place, [name], now, times))
  await requests(projectNames.relayed, 60)
  await requests('xquota_exceeded', 12)
  await requests('xvalidation_failed', 7)
  await here.round()
  t.deepEqual(await here.open(), [])
  await requests('xquota_exceeded', 2)
  await here.round()
  t.deepEqual(await here.open(), ['mail.refused warning'])
  t.is(
    await here.summary('mail.refused'),
    '25.9 % of 81 requests of the project Default were refused in the last hour, most of them with the code quota_exceeded.',
  )
  await requests(projectNames.relayed, 100)
  await here.pass(7 * minute)
  t.deepEqual(await here.open(), [])
})

test('mail.complained: warns from 0.1 % in a day, and is an error from 0.3 %', async (t) => {
  const here = await watched(t)
  await attempt(here, { taken: 1000 })
  await fates(here, 'complained', 1)
  await here.round()
  t.deepEqual(await here.open(), [], 'one complaint says little')
  await fates(here, 'complained', 1)
  await here.round()
  t.deepEqual(await here.open(), ['mail.complained warning'])
  t.is(await here.summary('mail.complained'), '0.2 % of 1,000 recipients of the project Default marked mail as spam in the last 24 hours.')
  await fates(here, 'complained', 1)
  await here.round()
  t.deepEqual(await here.open(), ['mail.complained error'])
  await here.pass(26 * hour)
  t.deepEqual(await here.open(), [])
})

test('watch: a new process continues with the open findings', async (t) => {
  const here = await watched(t)
  await attempt(here, { failed: 5 })
  await here.round()
  const next = await Watched.of(await here.fixture.crash())
  await next.pass(day + 2 * hour)
  t.deepEqual(await next.open(), [])
  t.true((await next.findings()).every(({ check, projectId: of }) => check === 'watch' && of === projectId))
  await next.fixture.assertSound(t)
  t.true((await next.fixture.database.all(findings, { organizationId })).length > 0)
})
