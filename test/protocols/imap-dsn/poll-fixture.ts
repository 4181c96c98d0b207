/** A polled mailbox over a real store, with a fake intake of feedback and any server. */
import type { ExecutionContext } from 'ava'
import { imapPasswordContext, ingestSources, type ImapConfig, type IngestSource } from '#core/ingest-sources/ingest-source.ts'
import { Fairness } from '#core/fairness/fairness.ts'
import { PolledMailboxes } from '#core/feedback/intake/polled-mailboxes.ts'
import { readPoll, type SourcePoll } from '#core/ingest-sources/source-status.ts'
import type { ImapNetwork } from '../../../protocols/imap-dsn/mailbox.ts'
import { PollFailure } from '../../../protocols/imap-dsn/poll-failure.ts'
import { pollOnce, type RoundParts, type RoundResult } from '../../../protocols/imap-dsn/mailbox-poll.ts'
import { coreFixture, organizationId, secrets, type CoreFixture } from '../../core/core-fixture.ts'
import { FeedbackDouble, readTestReport } from '../feedback-double.ts'

export const sourceId = 'src_1'
export const key = { organizationId, sourceId }

export interface PollFixture {
  readonly fixture: CoreFixture
  readonly feedback: FeedbackDouble
  readonly fairness: Fairness
  readonly parts: RoundParts
  /** Replaces the source. */
  source(imap: Partial<ImapConfig>, password?: string): Promise<IngestSource>
  /** Runs a poll. Returns the problem and sentence of a failure, which is stored as by the poller. */
  poll(signal?: AbortSignal): Promise<RoundResult | string | undefined>
  status(): Promise<SourcePoll | undefined>
  /** Kind and subject of each processed mail. */
  subjects(): string[]
}

export async function pollFixture(t: ExecutionContext, network: Partial<ImapNetwork> = {}): Promise<PollFixture> {
  const fixture = await coreFixture(t)
  const { database, clock } = fixture
  const feedback = new FeedbackDouble(database)
  const fairness = new Fairness({ clock })
  const mailboxes = new PolledMailboxes({ ...fixture.context, feedback, fairness })
  const here = { resolve4: () => Promise.resolve(['127.0.0.1']), resolve6: () => Promise.resolve([]) }
  const parts = {
    mailboxes,
    readReport: readTestReport,
    network: { resolver: here, guard: () => true, trusted: null, stepMs: 5000, ...network },
  }
  const poll = async (signal = new AbortController().signal): Promise<RoundResult | string | undefined> => {
    try {
      return await pollOnce(parts, key, signal)
    } catch (error) {
      if (!(error instanceof PollFailure)) throw error
      await mailboxes.failed(key, error.message)
      return `${error.problem}: ${error.message}`
    }
  }
  return {
    ...{ fixture, feedback, fairness, parts, poll },
    source(imap, password = 'correct-horse') {
      const sealedPassword = secrets.seal(password, imapPasswordContext(sourceId))
      const defaults = { host: 'localhost', port: 993, username: 'bounces', mailbox: 'INBOX', pollIntervalSeconds: 60 }
      const record = { id: sourceId, provider: 'postfix' as const, label: '', sealedSecret: '', createdAt: clock.now() }
      return fixture.put(ingestSources, { ...record, imap: { ...defaults, sealedPassword, ...imap } })
    },
    status: () => readPoll(database, organizationId, sourceId),
    subjects: () => feedback.taken.map(({ origin }) => /^Subject: (.*)\r?$/m.exec(Buffer.from(origin.raw ?? []).toString())?.[1] ?? ''),
  }
}
