/** Scoring on threads: equal reports, deadlines, hostile mail, and tests of DNS lists. */
import test from '#test'
import { dnsListOf, WatchedLists } from '#ingest/dns/dns-lists.ts'
import type { Resolve } from '#ingest/dns/resolve.ts'
import { inspectMail } from '#ingest/inspect/score.ts'
import { ThreadScorer } from '#ingest/inspect/thread-scorer.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { letter, newsletter } from './golden.ts'
import { StubDns } from './stub-dns.ts'

test('ThreadScorer: gives the same report as inspectMail()', async (t) => {
  const input = await newsletter()
  const never: Resolve = () => Promise.reject(new Error('never'))
  await using scorer = new ThreadScorer({ clock: new FakeClock(), resolve: input.resolve, lists: [] })
  const score = await scorer.score(input.raw, input.session)
  const plain = await inspectMail({ ...input, lists: [], now: input.session.receivedAt })
  t.deepEqual(score, { ok: true, report: plain })
  t.is(scorer.running, 0)
  await using silent = new ThreadScorer({ clock: new FakeClock(), resolve: never, lists: [] })
  t.true((await silent.score(input.raw, input.session)).ok)
})

test('ThreadScorer: silent DNS delays a report up to its deadline only', async (t) => {
  const input = await letter()
  const clock = new FakeClock()
  const limits = { dnsMs: 5000, allMs: 20_000, startMs: 60_000, most: 1 }
  const hanging: Resolve = () => {
    setImmediate(() => clock.advance(limits.dnsMs))
    return new Promise(() => {})
  }
  await using scorer = new ThreadScorer({ clock, resolve: hanging, lists: input.lists, limits })
  const score = await scorer.score(input.raw, input.session)
  t.true(score.ok && score.report.checks.filter(({ status }) => status === 'na').length >= 8)
  const unanswered = score.ok ? score.report.unanswered : []
  for (const id of ['spf', 'dkim', 'dmarc', 'fcrdns', 'ip_blocklist', 'sender_domain']) t.true(unanswered?.includes(id), id)
})

test('ThreadScorer: the DNS limit starts with the first query, not with the thread', async (t) => {
  const input = await letter()
  const clock = new FakeClock()
  const limits = { dnsMs: 8500, allMs: 20_000, startMs: 60_000, most: 1 }
  await using scorer = new ThreadScorer({ clock, resolve: input.resolve, lists: input.lists, limits })
  const scoring = scorer.score(input.raw, input.session)
  await Promise.resolve()
  clock.advance(59_000) // the thread cannot have sent a message yet
  const score = await scoring
  t.deepEqual(score.ok && score.report.unanswered, [])
})

test('ThreadScorer: fetches policies if configured, within the remaining time', async (t) => {
  const zone = { '_25._tcp.mx.example.com TLSA': undefined, '_mta-sts.example.com TXT': [['v=STSv1; id=1']] }
  const input = await letter({ zone })
  const asked: (readonly [domain: string, isBounded: boolean])[] = []
  const fetchPolicy = async (domain: string, deadlineMs: number): Promise<string> => {
    asked.push([domain, deadlineMs > 0 && deadlineMs <= 5000])
    return 'version: STSv1\nmode: enforce\nmax_age: 1\n'
  }
  const status = async (more: object): Promise<string | undefined> => {
    await using scorer = new ThreadScorer({ clock: new FakeClock(), resolve: input.resolve, lists: [], ...more })
    const score = await scorer.score(input.raw, input.session)
    return score.ok ? score.report.checks.find(({ id }) => id === 'domain_hardening')?.status : undefined
  }
  t.is(await status({ fetchPolicy }), 'pass')
  t.deepEqual(asked, [['example.com', true]])
  t.is(await status({}), 'na')
  t.is(await status({ fetchPolicy: () => Promise.reject(new Error('no')) }), 'na')
})

test('ThreadScorer: ends a hanging thread and scores the next mail', async (t) => {
  const input = await letter()
  const clock = new FakeClock()
  const lists = { clock, resolve: input.resolve, lists: [] }
  const entry = new URL('data:text/javascript,import{parentPort}from"node:worker_threads";parentPort.on("message",()=>{})')
  await using stuck = new ThreadScorer({ ...lists, entry })
  const score = stuck.score(input.raw, input.session)
  await Promise.resolve()
  await new Promise(setImmediate)
  clock.advance(60_000)
  t.deepEqual(await score, { ok: false, problem: 'The mail took too long to be checked.' })
  t.is(stuck.running, 0)
})

test('ThreadScorer: a failed thread gives a problem to people, the error to operators', async (t) => {
  const input = await letter()
  const entry = new URL('data:text/javascript,throw new Error("out of order")')
  await using broken = new ThreadScorer({ clock: new FakeClock(), resolve: input.resolve, lists: [], entry })
  const score = await broken.score(input.raw, input.session)
  t.like(score, { ok: false, problem: 'The mail could not be checked.' })
  t.regex(String(!score.ok && score.error), /out of order/)
})

test('ThreadScorer: hanging block lists do not delay other queries', async (t) => {
  const input = await letter()
  const clock = new FakeClock()
  const begun = Promise.withResolvers<void>()
  const resolve: Resolve = (name, type) => {
    if (name.endsWith('.ip.test')) return new Promise(() => {})
    if (type === 'PTR') begun.resolve()
    return input.resolve(name, type)
  }
  await using scorer = new ThreadScorer({ clock, resolve, lists: input.lists })
  const scoring = scorer.score(input.raw, input.session)
  // no time has passed when the checks send their queries
  await begun.promise
  await new Promise(setImmediate)
  clock.advance(5000)
  const score = await scoring
  const status = (id: string) => score.ok && score.report.checks.find((check) => check.id === id)?.status
  t.deepEqual(['spf', 'dkim', 'fcrdns', 'ip_blocklist'].map(status), ['pass', 'pass', 'pass', 'na'])
})

test('ThreadScorer: disposal ends running and queued mails without waiting for DNS', async (t) => {
  const input = await letter()
  const clock = new FakeClock()
  const asked = Promise.withResolvers<void>()
  const resolve: Resolve = () => {
    asked.resolve()
    return new Promise(() => {})
  }
  const scorer = new ThreadScorer({ clock, resolve, lists: input.lists, limits: { dnsMs: 5000, allMs: 60_000, startMs: 60_000, most: 1 } })
  const scores = [1, 2].map(() => scorer.score(input.raw, input.session))
  await asked.promise
  await scorer[Symbol.asyncDispose]()
  for (const score of await Promise.all(scores)) t.like(score, { ok: false, problem: 'The service is shutting down.' })
  t.is(scorer.running, 0)
})

test('ThreadScorer: queues mails beyond the parallel limit and scores them all', async (t) => {
  const input = await letter()
  await using scorer = new ThreadScorer({
    clock: new FakeClock(),
    resolve: input.resolve,
    lists: [],
    limits: { dnsMs: 5000, allMs: 60_000, startMs: 60_000, most: 1 },
  })
  const scores = await Promise.all([1, 2, 3].map(() => scorer.score(input.raw, input.session)))
  t.true(scores.every(({ ok }) => ok))
})

test('ThreadScorer: reports on input that is not a mail', async (t) => {
  const { session, resolve } = await letter()
  await using scorer = new ThreadScorer({ clock: new FakeClock(), resolve, lists: [] })
  const odd = [
    '',
    '\r\n',
    'x'.repeat(100_000),
    'From: \r\n\r\n',
    `From: <a@b>\r\nContent-Type: multipart/mixed; boundary=""\r\n\r\n${'--\r\n'.repeat(20_000)}`,
    '\0\xff'.repeat(5000),
  ]
  for (const text of [
    ...odd,
    `Content-Type: text/html\r\n\r\n${'<b>'.repeat(50_000)}`,
    `DKIM-Signature: v=1; a=rsa-sha256; d=a.test; s=b; h=from; bh=x; b=y\r\n`.repeat(500) + 'From: <a@b.test>\r\n\r\nx',
  ])
    t.true((await scorer.score(Buffer.from(text, 'latin1'), session)).ok, text.slice(0, 40))
})

test('ThreadScorer: expensive large mail gets a report or an immediate reason', async (t) => {
  const { session, resolve } = await letter()
  await using scorer = new ThreadScorer({ clock: new FakeClock(), resolve, lists: [] })
  const head = 'From: <a@b.test>\r\nMIME-Version: 1.0\r\nContent-Type: text/html\r\n'
  const filled = (start: string, unit: string): Buffer => Buffer.from(start + unit.repeat(Math.floor(20_000_000 / unit.length)))
  for (const mail of [filled(`${head}\r\n`, '<b>'), filled(`${head}Content-Transfer-Encoding: quoted-printable\r\n\r\n`, '=0A')])
    t.true((await scorer.score(mail, session)).ok, mail.toString('latin1', 0, 200))
  for (const [unit, problem] of [
    ['a: b\r\n', manyLines],
    [' x\n', manyLines],
    [`DKIM-Signature: v=1; d=a.test; s=b; h=from; bh=x; b=y; z=${'x'.repeat(500)}\r\n`, hugeHeader],
  ] as const)
    t.deepEqual(await scorer.score(filled('From: a\r\n', unit), session), { ok: false, problem })
})
const hugeHeader = 'The mail header is larger than 1 MiB. Receivers refuse such mail.'
const manyLines = 'The mail header has more than 5,000 lines. Receivers refuse such mail.'

const zen = dnsListOf('ip/major/zen.spamhaus.org')
const dbl = dnsListOf('domain/major/dbl.spamhaus.org')

test('dnsListOf(): parses a list with its error responses', (t) => {
  t.deepEqual(zen, { zone: 'zen.spamhaus.org', kind: 'ip', weight: 'major', ignore: [] })
  t.deepEqual(dbl.ignore, ['127.0.1.255'])
  t.is(dnsListOf('ip/minor/bl.spamcop.net').weight, 'minor')
})

test('WatchedLists: tests a list before use and hourly; skips dead lists with a reason', async (t) => {
  const clock = new FakeClock()
  const good = { '2.0.0.127.zen.spamhaus.org A': ['127.0.0.2'], 'dbltest.com.dbl.spamhaus.org A': ['127.0.1.2'] }
  const dns = new StubDns(good)
  const lists = new WatchedLists([zen, dbl], clock)
  t.deepEqual(await lists.current(dns.resolve), [zen, dbl])
  t.deepEqual(dns.questions.toSorted(), [
    '1.0.0.127.zen.spamhaus.org A',
    '2.0.0.127.zen.spamhaus.org A',
    'dbltest.com.dbl.spamhaus.org A',
    'invalid.dbl.spamhaus.org A',
  ])
  await lists.current(dns.resolve)
  t.is(dns.questions.length, 4)
  clock.advance(3_600_000)
  const dead = new StubDns({ ...good, '1.0.0.127.zen.spamhaus.org A': ['127.0.0.2'], 'dbltest.com.dbl.spamhaus.org A': ['198.51.100.1'] })
  const offs = (await lists.current(dead.resolve)).map(({ off }) => off)
  t.deepEqual(offs, ['all', 'empty'])
})

test('WatchedLists: skips a silent list once and tests it again for the next mail', async (t) => {
  const lists = new WatchedLists([zen], new FakeClock())
  const silent = new StubDns({ '2.0.0.127.zen.spamhaus.org A': 'ETIMEOUT' })
  t.is((await lists.current(silent.resolve))[0]?.off, 'silent')
  const good = new StubDns({ '2.0.0.127.zen.spamhaus.org A': ['127.0.0.2'] })
  t.is((await lists.current(good.resolve))[0]?.off, undefined)
})
