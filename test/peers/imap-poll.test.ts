/** Polling a Dovecot mailbox: new mail, stored progress, ignored mail and refusals. */
import { readFile } from 'node:fs/promises'
import type { ExecutionContext } from 'ava'
import { Fairness } from '#core/fairness/fairness.ts'
import type { Work } from '#core/fairness/work.ts'
import { ingestSources } from '#core/ingest-sources/ingest-source.ts'
import { openMailbox, maxReadOctets, type ImapNetwork } from '../../protocols/imap-dsn/mailbox.ts'
import { PollFailure } from '../../protocols/imap-dsn/poll-failure.ts'
import { pollOnce } from '../../protocols/imap-dsn/mailbox-poll.ts'
import { organizationId } from '../core/core-fixture.ts'
import { pollFixture, sourceId, type PollFixture } from '../protocols/imap-dsn/poll-fixture.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'
import { testWith } from '../support/peers/peers.ts'
import { waitFor } from '../support/waits.ts'
import { Dovecot, dovecotPassword, type DovecotOptions } from './dovecot.ts'

const peers = testWith('dovecot')
const dsn = (subject: string): string => `Return-Path: <>\r\nSubject: ${subject}\r\nX-Test: dsn\r\n\r\nIt bounced.\r\n`

const told = (result: unknown): string => (typeof result === 'string' ? result : 'no failure')

interface Place extends PollFixture {
  readonly dovecot: Dovecot
  readonly network: ImapNetwork
}

async function place(t: ExecutionContext, options: Partial<DovecotOptions> = {}, network: Partial<ImapNetwork> = {}): Promise<Place> {
  const folder = await temporaryFolder('dovecot')
  const dovecot = await Dovecot.start({ folder: folder.path, ...options })
  t.teardown(async () => {
    await dovecot[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
  })
  const setup = await pollFixture(t, { trusted: await readFile(dovecot.ca, 'utf8'), ...network })
  await setup.source({ port: dovecot.tlsPort })
  return { ...setup, dovecot, network: setup.parts.network }
}

peers('IMAP: each mail is read once in order, with progress; the mailbox is unchanged', async (t) => {
  const { dovecot, poll, subjects, status, feedback, fixture } = await place(t)
  t.deepEqual(await poll(), { mails: 0, reports: 0, skipped: 0, isUnfinished: false }, 'empty')
  for (const subject of ['one', 'two']) await dovecot.deliver('bounces', dsn(subject))
  await dovecot.deliver('bounces', 'Return-Path: <ada@example.net>\r\nSubject: hello\r\n\r\nNo report.\r\n')
  t.deepEqual(await poll(), { mails: 3, reports: 2, skipped: 0, isUnfinished: false })
  t.deepEqual(subjects(), ['one', 'two', 'hello'])
  t.deepEqual(
    feedback.taken.map(({ origin, events }) => [origin.channel, origin.sourceId, origin.hasNullSender, events.length]),
    [
      ['mailbox', sourceId, true, 1],
      ['mailbox', sourceId, true, 1],
      ['mailbox', sourceId, false, 0],
    ],
  )
  t.false(JSON.stringify(feedback.taken).includes(dovecotPassword))

  const after = await status()
  t.is(after?.checkpoint?.lastUid, 3)
  t.is(after?.lastPolledAt, fixture.clock.now())
  // `4:*` also matches the last mail
  t.deepEqual(await poll(), { mails: 0, reports: 0, skipped: 0, isUnfinished: false })
  await dovecot.deliver('bounces', dsn('three'))
  t.deepEqual(await poll(), { mails: 1, reports: 1, skipped: 0, isUnfinished: false })
  t.deepEqual(subjects(), ['one', 'two', 'hello', 'three'])

  const names = await dovecot.files('bounces')
  t.is(names.length, 4)
  t.true(
    names.every((name) => !/:2,./.test(name)),
    names.join(' '),
  )
})

peers('A mailbox is charged for its mails, and waits while it uses more than its share', async (t) => {
  const { dovecot, poll, subjects, fairness, fixture } = await place(t)
  const { clock } = fixture
  const works: Work[] = []
  fairness.begin = (facts) => {
    const work = Fairness.prototype.begin.call(fairness, facts)
    works.push(work)
    return work
  }
  const large = 'x'.repeat(70).concat('\r\n').repeat(15_000)
  for (const subject of ['one', 'two']) await dovecot.deliver('bounces', `${dsn(subject)}${large}`)
  t.like(await poll(), { mails: 2 })
  t.true((works[0]?.spent ?? 0) > 2.8, String(works[0]?.spent))
  await dovecot.deliver('bounces', dsn('three'))
  for (const [credentialId, ms] of [
    [sourceId, 20_000],
    ['key_other', 5000],
  ] as const) {
    const work = fairness.begin({ address: '192.0.2.1', kind: 'send' })
    work.belongsTo({ credentialId, organizationId })
    void work.turn()
    work.spend(ms)
  }
  const waitingBefore = clock.pending
  const polled = poll()
  await waitFor('the mailbox waits', async () => (clock.pending > waitingBefore ? true : undefined))
  t.deepEqual(subjects(), ['one', 'two'])
  clock.advance(60_000)
  t.like(await polled, { mails: 1 })
})

peers('IMAP: another UIDVALIDITY restarts from the first mail', async (t) => {
  const { dovecot, poll, status, subjects } = await place(t)
  for (const subject of ['one', 'two']) await dovecot.deliver('bounces', dsn(subject))
  await poll()
  t.not((await status())?.checkpoint?.uidValidity, '7777777')
  await dovecot.renumber('bounces', 7_777_777)
  await dovecot.deliver('bounces', dsn('three'))
  t.like(await poll(), { mails: 3 })
  t.deepEqual((await status())?.checkpoint, { uidValidity: '7777777', lastUid: 3 })
  t.deepEqual(subjects().toSorted(), ['one', 'one', 'three', 'two', 'two'])
})

peers('Progress never passes a mail that could not be stored', async (t) => {
  const { dovecot, poll, subjects, status, feedback } = await place(t)
  for (const subject of ['one', 'two']) await dovecot.deliver('bounces', dsn(subject))
  feedback.failure = new Error('the disk said no')
  t.is(await poll(), 'store: A mail could not be stored. The next poll reads it again.')
  const failed = await status()
  t.is(failed?.checkpoint, null)
  t.is(failed?.lastError, 'A mail could not be stored. The next poll reads it again.')
  feedback.failure = undefined
  t.deepEqual(await poll(), { mails: 2, reports: 2, skipped: 0, isUnfinished: false })
  t.deepEqual(subjects(), ['one', 'two'])
  t.is((await status())?.lastError, null)
})

peers('IMAP: skips deleted mail; a lost connection loses and repeats nothing', async (t) => {
  const { dovecot, parts, poll, subjects, status } = await place(t)
  for (const subject of ['one', 'two', 'three', 'four']) await dovecot.deliver('bounces', dsn(subject))
  const names = await dovecot.files('bounces')
  const readReport: typeof parts.readReport = async (mail, turn) => {
    const text = Buffer.from(mail).toString()
    if (text.includes('Subject: one')) await dovecot.remove('bounces', 2)
    if (text.includes('Subject: three')) await dovecot.kick('bounces')
    return parts.readReport(mail, turn)
  }
  const key = { organizationId: 'org_1', sourceId }
  const failure = await t.throwsAsync(pollOnce({ ...parts, readReport }, key, new AbortController().signal), { instanceOf: PollFailure })
  t.is(failure.problem, 'server')
  t.is((await status())?.checkpoint?.lastUid, 3)
  t.deepEqual(await poll(), { mails: 1, reports: 1, skipped: 0, isUnfinished: false })
  t.deepEqual(subjects(), ['one', 'three', 'four'])
  t.is((await dovecot.files('bounces')).length, names.length - 1)
})

peers('IMAP: reads the beginning of large mail, skips and counts unparsable mail', async (t) => {
  const { dovecot, parts, subjects, status, feedback } = await place(t)
  await dovecot.deliver('bounces', dsn('large') + 'x'.repeat(76).concat('\r\n').repeat(40_000))
  await dovecot.deliver('bounces', dsn('broken'))
  await dovecot.deliver('bounces', dsn('last'))
  const readReport: typeof parts.readReport = (mail, turn) => {
    if (Buffer.from(mail).includes('Subject: broken')) throw new Error('a defect')
    return parts.readReport(mail, turn)
  }
  const result = await pollOnce({ ...parts, readReport }, { organizationId: 'org_1', sourceId }, new AbortController().signal)
  t.deepEqual(result, { mails: 3, reports: 2, skipped: 1, isUnfinished: false })
  t.deepEqual(subjects(), ['large', 'last'])
  t.is(feedback.taken[0]?.origin.raw?.length, maxReadOctets)
  const { skipped, checkpoint } = (await status()) ?? {}
  t.deepEqual([skipped, checkpoint?.lastUid], [1, 3])
})

peers('IMAP: errors are one sentence without the password', async (t) => {
  const { dovecot, poll, source, status, fixture } = await place(t)
  const wrong = 'battery-staple'
  await source({ port: dovecot.tlsPort }, wrong)
  t.is(await poll(), 'login: The server refused the user name and password (AUTHENTICATIONFAILED).')
  const stored = await status()
  t.is(stored?.lastError, 'The server refused the user name and password (AUTHENTICATIONFAILED).')
  t.is(stored?.lastErrorAt, fixture.clock.now())
  t.false((await dovecot.log()).includes(wrong))

  await source({ port: dovecot.tlsPort, mailbox: 'Nowhere' })
  t.regex(told(await poll()), /^mailbox: The mailbox does not exist/)
  await source({ port: 1 })
  t.is(await poll(), 'connection: The server cannot be reached (ECONNREFUSED).')
  await source({ port: dovecot.tlsPort, sealedPassword: 'v1.other.x.y' })
  t.regex(told(await poll()), /^password: .*master key\. Create the source again\.$/)
  await source({ port: dovecot.tlsPort })
  t.like(await poll(), { mails: 0 })
})

peers('IMAP: reads other mailboxes; a revoked source is not polled and leaves no data', async (t) => {
  const { dovecot, poll, source, subjects, fixture, status, feedback } = await place(t)
  await dovecot.deliver('bounces', dsn('elsewhere'), 'Bounces')
  await source({ port: dovecot.tlsPort, mailbox: 'Bounces' })
  t.like(await poll(), { mails: 1 })
  t.deepEqual(subjects(), ['elsewhere'])

  await dovecot.deliver('bounces', dsn('late'), 'Bounces')
  const take = feedback.take.bind(feedback)
  feedback.take = async (...given) => {
    await fixture.remove(ingestSources, sourceId)
    return take(...given)
  }
  t.regex(told(await poll()), /^store: /)
  t.is(await poll(), undefined)
  t.is((await status())?.checkpoint?.lastUid, 1)
})

peers('Certificates are checked, also behind STARTTLS, and no password goes out in clear', async (t) => {
  const { dovecot, network } = await place(t, {})
  const login = { host: 'localhost', username: 'bounces', password: dovecotPassword, mailbox: 'INBOX' }
  const attempt = async (changes: Partial<ImapNetwork>, target: { host?: string; port: number; security: 'tls' | 'starttls' }) => {
    const opened = openMailbox({ ...network, ...changes }, { ...login, ...target }, new AbortController().signal)
    return opened.then(
      async (mailbox) => {
        await mailbox.leave()
        return 'open'
      },
      (error: unknown) => (error instanceof PollFailure ? error.problem : String(error)),
    )
  }
  for (const [port, security] of [
    [dovecot.tlsPort, 'tls'],
    [dovecot.port, 'starttls'],
  ] as const) {
    t.is(await attempt({}, { port, security }), 'open', security)
    t.is(await attempt({}, { port, security, host: '127.0.0.1' }), 'open', `${security}, by address`)
    t.is(await attempt({}, { port, security, host: 'imap.example.ch' }), 'tls', `${security}, another name`)
    t.is(await attempt({ trusted: null }, { port, security }), 'tls', `${security}, unknown authority`)
    t.is(await attempt({ guard: () => false }, { port, security }), 'address', `${security}, forbidden`)
  }
  t.is(await attempt({}, { port: dovecot.port, security: 'tls' }), 'tls', 'TLS on a port without TLS')
})

peers('A server without STARTTLS never sees the password', async (t) => {
  const { dovecot, network } = await place(t, { starttls: false })
  const login = { host: 'localhost', port: dovecot.port, username: 'bounces', password: dovecotPassword, mailbox: 'INBOX' }
  const error = await t.throwsAsync(openMailbox(network, { ...login, security: 'starttls' }, new AbortController().signal))
  t.is(error instanceof PollFailure && error.problem, 'tls')
  t.notRegex(await dovecot.log(), /Login:|auth failed/)
})
