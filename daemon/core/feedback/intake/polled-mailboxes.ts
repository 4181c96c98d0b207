/**
 * The core's part of mailbox polling: lists the mailboxes, stores their checkpoints, and processes mails. A mail and its checkpoint are one
 * write, so no mail is lost or counted twice.
 */
import { Change, decode } from '#store/change.ts'
import { lookupPrefix, type Stored } from '#store/record-kind.ts'
import { within } from '#store/tuple.ts'
import type { Core } from '../../core.ts'
import type { Fairness } from '../../fairness/fairness.ts'
import type { Work } from '../../fairness/work.ts'
import { isSwitchedOn } from '../../plan/features.ts'
import type { ReportReading } from '../event.ts'
import type { FeedbackTaker } from '../feedback-origin.ts'
import { Refusal } from '../../refusals.ts'
import { ingestSources, mailboxWork, openImapPassword, type ImapConfig, type IngestSource } from '../../ingest-sources/ingest-source.ts'
import { readPoll, writePoll, type Checkpoint, type SourcePoll } from '../../ingest-sources/source-status.ts'

export interface PolledMailboxesOptions extends Core {
  readonly feedback: FeedbackTaker
  readonly fairness: Pick<Fairness, 'begin'>
}

/** A mailbox to poll. */
export interface PolledMailbox {
  readonly organizationId: string
  readonly sourceId: string
  readonly imap: Omit<ImapConfig, 'sealedPassword'>
  /** Undefined if the password was sealed with another master key. */
  readonly password: string | undefined
  /** Position after the last mail read; null if the mailbox was never polled. */
  readonly checkpoint: Checkpoint | null
}

/** A mail in a polled mailbox. */
export interface PolledMail {
  readonly at: Checkpoint
  readonly reading: ReportReading
  /** The mail; only the first part of a long mail. */
  readonly raw: Uint8Array
}

export type MailboxKey = Pick<PolledMailbox, 'organizationId' | 'sourceId'>

const fresh: SourcePoll = { lastPolledAt: null, lastError: null, lastErrorAt: null, checkpoint: null }

export class PolledMailboxes {
  readonly #options: PolledMailboxesOptions

  constructor(options: PolledMailboxesOptions) {
    this.#options = options
  }

  /** Calls the listener when a mailbox is added or removed. */
  onChange(listener: () => void): void {
    this.#options.database.onWork(mailboxWork, listener)
  }

  /** All mailboxes of all organizations. */
  async *all(): AsyncGenerator<MailboxKey & { readonly intervalSeconds: number; readonly isNew: boolean }> {
    const { database } = this.#options
    for await (const { value } of database.kv.range(within(lookupPrefix(ingestSources.name, 'id')))) {
      const [organizationId, sourceId] = decode<[string, string]>(value)
      const { record } = (await database.get(ingestSources, { organizationId }, sourceId)) ?? {}
      if (!record?.imap) continue
      const { lastPolledAt, lastErrorAt } = (await readPoll(database, organizationId, sourceId)) ?? fresh
      const isNew = lastPolledAt === null && lastErrorAt === null
      yield { organizationId, sourceId, intervalSeconds: record.imap.pollIntervalSeconds, isNew }
    }
  }

  /** Begins a poll. Charges the mailbox and its organization for it; the poll is delayed while they exceed their share. */
  begin({ organizationId, sourceId }: MailboxKey): Work {
    const work = this.#options.fairness.begin({ address: '127.0.0.1', kind: 'mailbox' })
    work.belongsTo({ credentialId: sourceId, organizationId })
    return work
  }

  /** Returns undefined if the mailbox must not be polled: the source was revoked, or the organization's bounce sources are switched off. */
  async open({ organizationId, sourceId }: MailboxKey): Promise<PolledMailbox | undefined> {
    const { database, policies, secrets } = this.#options
    const { record } = (await database.get(ingestSources, { organizationId }, sourceId)) ?? {}
    if (!record?.imap) return undefined
    const { organization, projects } = await policies.of(organizationId)
    // a deleted organization has no projects
    if (projects.size === 0 || !isSwitchedOn(organization, 'bounce_sources')) return undefined
    const { sealedPassword: _, ...imap } = record.imap
    const { checkpoint } = await this.#poll({ organizationId, sourceId })
    return { organizationId, sourceId, imap, password: openImapPassword(secrets, record), checkpoint }
  }

  /** Processes a mail and advances the checkpoint in one write. Throws if the source was revoked in the meantime or the write fails. */
  async take(key: MailboxKey, { at, reading, raw }: PolledMail): Promise<void> {
    // picked by name, because callers pass more than the key, such as a password
    const { organizationId, sourceId } = key
    const origin = { organizationId, sourceId, channel: 'mailbox', hasNullSender: hasNullSender(raw), raw } as const
    const stored = await this.#source(key)
    if (!stored) throw new Refusal('not_found', 'The ingest source was revoked.')
    const poll = await this.#poll(key)
    await this.#options.feedback.take(origin, reading.events, (change) => this.#write(change, stored, key, { ...poll, checkpoint: at }))
  }

  /** Advances the checkpoint past an unreadable mail and counts it as skipped. */
  async skip(key: MailboxKey, at: Checkpoint): Promise<void> {
    await this.#update(key, (poll) => ({ ...poll, checkpoint: at, skipped: (poll.skipped ?? 0) + 1 }))
  }

  /** Records a successful poll up to `at`. */
  async succeeded(key: MailboxKey, at: Checkpoint): Promise<void> {
    const now = this.#options.clock.now()
    await this.#update(key, (poll) => ({ ...poll, checkpoint: at, lastPolledAt: now, lastError: null, lastErrorAt: null }))
  }

  /** Records a failed poll. `error` is one sentence without secrets. */
  async failed(key: MailboxKey, error: string): Promise<void> {
    const now = this.#options.clock.now()
    await this.#update(key, (poll) => ({ ...poll, lastError: error, lastErrorAt: now }))
  }

  async #update(key: MailboxKey, next: (poll: SourcePoll) => SourcePoll): Promise<void> {
    const stored = await this.#source(key)
    const poll = await this.#poll(key)
    // the commit fails only if the source was revoked; then no state is needed
    if (stored) await this.#options.database.commit(this.#write(new Change(), stored, key, next(poll)))
  }

  #write(change: Change, { version }: Stored<IngestSource>, { organizationId, sourceId }: MailboxKey, poll: SourcePoll): Change {
    change.check([organizationId, ingestSources.name, sourceId], version)
    return writePoll(change, organizationId, sourceId, poll)
  }

  #source({ organizationId, sourceId }: MailboxKey): Promise<Stored<IngestSource> | undefined> {
    return this.#options.database.get(ingestSources, { organizationId }, sourceId)
  }

  async #poll({ organizationId, sourceId }: MailboxKey): Promise<SourcePoll> {
    return (await readPoll(this.#options.database, organizationId, sourceId)) ?? fresh
  }
}

/** Reads the Return-Path field of the last server (RFC 5321 §4.4). Returns undefined if the field is missing. */
function hasNullSender(raw: Uint8Array): boolean | undefined {
  const head = Buffer.from(raw.buffer, raw.byteOffset, Math.min(raw.length, 64 * 1024)).toString('latin1')
  const [block = ''] = head.split(/\r?\n\r?\n/, 1)
  const [, path] = /^return-path[ \t]*:[ \t]*(<[^>\r\n]*>)/im.exec(block) ?? []
  return path === undefined ? undefined : path === '<>'
}
