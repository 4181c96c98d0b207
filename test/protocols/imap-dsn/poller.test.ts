/** Selection, schedule and concurrency of mailbox polls. The host names do not resolve. */
import test, { type ExecutionContext } from '#test'
import { ingestSources, imapPasswordContext } from '#core/ingest-sources/ingest-source.ts'
import { IngestSources } from '#core/ingest-sources/ingest-sources.ts'
import { Fairness } from '#core/fairness/fairness.ts'
import { PolledMailboxes, type MailboxKey } from '#core/feedback/intake/polled-mailboxes.ts'
import { readPoll } from '#core/ingest-sources/source-status.ts'
import { Poller, type PollEvents } from '../../../protocols/imap-dsn/poller.ts'
import { CountedActivity } from '../../support/daemon/activity.ts'
import { FakeClock, startOfTime } from '../../support/fake-clock.ts'
import { coreFixture, organizationId, principal, secrets, type CoreFixture } from '../../core/core-fixture.ts'
import { FeedbackDouble, readTestReport } from '../feedback-double.ts'

const second = 1000

interface Place {
  readonly fixture: CoreFixture
  readonly poller: Poller
  /** Host names that the poller looked up, in order. */
  readonly asked: string[]
  readonly failed: string[]
  source(host: string, pollIntervalSeconds?: number): Promise<void>
}

async function place(t: ExecutionContext): Promise<Place> {
  const fixture = await coreFixture(t)
  const { database, clock } = fixture
  const failed: string[] = []
  const defects: unknown[] = []
  const events: PollEvents = {
    polled: () => t.fail('no server is there'),
    failed: (id, problem) => void failed.push(`${id} ${problem}`),
    defect: (error) => void defects.push(error),
  }
  const found: Place = {
    ...{ fixture, asked: [], failed },
    poller: new Poller({
      mailboxes: new PolledMailboxes({ ...fixture.context, feedback: new FeedbackDouble(database), fairness: new Fairness({ clock }) }),
      network: {
        resolver: { resolve4: (name) => look(name), resolve6: () => Promise.resolve([]) },
        guard: () => true,
        trusted: null,
        stepMs: 1000,
      },
      ...{ readReport: readTestReport, clock, random: () => 0.5, events },
    }),
    async source(host, pollIntervalSeconds = 60) {
      const id = `src_${host}`
      const imap = {
        host,
        port: 993,
        username: 'u',
        mailbox: 'INBOX',
        pollIntervalSeconds,
        sealedPassword: secrets.seal('p', imapPasswordContext(id)),
      }
      await fixture.put(ingestSources, { id, provider: 'postfix' as const, label: '', sealedSecret: '', imap, createdAt: startOfTime })
    },
  }
  const look = async (name: string): Promise<string[]> => {
    found.asked.push(name)
    return []
  }
  t.teardown(async () => {
    await found.poller.stop()
    if (defects.length > 0) throw new Error(`defects: ${defects.map(String).join(', ')}`)
  })
  return found
}

test('Poller: polls new mailboxes at once, backs off on failures, reports reasons', async (t) => {
  const { fixture, poller, asked, failed, source } = await place(t)
  await source('a.test')
  poller.start()
  await fixture.settled()
  t.deepEqual([asked, failed], [['a.test'], ['src_a.test name']])
  const poll = await readPoll(fixture.database, organizationId, 'src_a.test')
  t.is(poll?.lastError, 'The host name does not resolve to an address.')

  await source('b.test')
  for (const [seconds, count] of [
    [59, 2],
    [1, 3],
    [120, 5],
  ] as const) {
    await fixture.pass(seconds * second)
    t.is(asked.length, count, asked.join(' '))
  }
  // a: at 0, 60 and 180; b: after at most 15 s, and a minute later
  t.deepEqual(asked.toSorted(), ['a.test', 'a.test', 'a.test', 'b.test', 'b.test'])
})

test('Poller: notices created and deleted mailboxes immediately', async (t) => {
  const { fixture, poller, asked, failed } = await place(t)
  const { clock } = fixture
  poller.start()
  await fixture.settled()
  t.is(clock.pending, 1, 'nothing is to be done')
  const open = { guard: () => true, resolver: { resolve4: () => Promise.resolve(['192.0.2.1']), resolve6: () => Promise.resolve([]) } }
  const sources = new IngestSources({ ...fixture.context, ...open })
  const imap = { host: 'a.test', username: 'u', password: 'p' }
  const { details } = await sources.create(principal, { provider: 'postfix', imap })
  await fixture.settled()
  t.is(failed.length, 1)
  t.deepEqual(asked, ['a.test'])
  await sources.revoke(principal, details.source.id)
  await fixture.settled()
  t.is(clock.pending, 1, 'it is forgotten')
})

test('Poller: skips revoked sources and organizations without bounce intake', async (t) => {
  const { fixture, poller, asked, failed, source } = await place(t)
  await source('a.test')
  await source('b.test')
  poller.start()
  await fixture.settled()
  t.is(failed.length, 2)
  await fixture.remove(ingestSources, 'src_a.test')
  await fixture.pass(60 * second)
  t.is(asked.length, 3)
  t.is(asked.at(-1), 'b.test')
  await fixture.organization({ flags: { bounce_sources: false } })
  await fixture.pass(3600 * second)
  t.is(asked.length, 3)
})

test('Poller: polls ten at a time, five per organization; stop does not wait', async (t) => {
  const clock = new FakeClock()
  const held = Promise.withResolvers<never[]>()
  const asked: string[] = []
  const keys = ['slow', 'other', 'third'].flatMap((organizationId) =>
    Array.from({ length: 8 }, (_, n) => ({ organizationId, sourceId: `${organizationId}-${n}` })),
  )
  const mailboxes = {
    onChange: () => {},
    async *all() {
      for (const key of keys) yield { ...key, isNew: true, intervalSeconds: 60 }
    },
    open: async ({ organizationId, sourceId }: MailboxKey) => {
      const imap = { host: sourceId, port: 993, username: 'u', mailbox: 'INBOX', pollIntervalSeconds: 60 }
      return { organizationId, sourceId, imap, password: 'p', checkpoint: null }
    },
    failed: () => Promise.resolve(),
  } as unknown as PolledMailboxes
  const look = (name: string): Promise<never[]> => {
    asked.push(name.split('-')[0] ?? '')
    return held.promise
  }
  const resolver = { resolve4: look, resolve6: () => Promise.resolve([]) }
  const events = { polled() {}, failed() {}, defect: (error: unknown) => t.fail(String(error)) }
  const network = { resolver, guard: () => true, trusted: null, stepMs: 1000 }
  const poller = new Poller({ mailboxes, network, readReport: readTestReport, clock, random: () => 0.5, events })
  poller.start()
  await new CountedActivity().settled(clock)
  t.deepEqual(asked.toSorted(), [...Array<string>(5).fill('other'), ...Array<string>(5).fill('slow')])
  const stopped = poller.stop()
  held.resolve([])
  await stopped
  t.is(asked.length, 10)
  t.is(clock.pending, 0)
})
