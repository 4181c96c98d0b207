/**
 * What polling a mailbox means to the core: which mailboxes there are, how far each was read, and a mail taken together with that
 * progress in one write, so that none is lost and none counts twice.
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

/** A mailbox to look into. */
export interface PolledMailbox {
  readonly organizationId: string
  readonly sourceId: string
  readonly imap: Omit<ImapConfig, 'sealedPassword'>
  /** Undefined when it was sealed under another master key. */
  readonly password: string | undefined
  /** How far it was read; null before the first time. */
  readonly checkpoint: Checkpoint | null
}

/** A mail of it. */
export interface PolledMail {
  readonly at: Checkpoint
  readonly reading: ReportReading
  /** The mail, or the first part of a long one. */
  readonly raw: Uint8Array
}

export type MailboxKey = Pick<PolledMailbox, 'organizationId' | 'sourceId'>

const fresh: SourcePoll = { lastPolledAt: null, lastError: null, lastErrorAt: null, checkpoint: null }

export class PolledMailboxes {
  readonly #options: PolledMailboxesOptions

  constructor(options: PolledMailboxesOptions) {
    this.#options = options
  }

  /** Is notified when one came or went. */
  onChange(listener: () => void): void {
    this.#options.database.onWork(mailboxWork, listener)
  }

  /** All of them, of whatever organization. */
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

  /** Begins a look: the mailbox and its organization are charged for it, and it waits while they use more than their share. */
  begin({ organizationId, sourceId }: MailboxKey): Work {
    const work = this.#options.fairness.begin({ address: '127.0.0.1', kind: 'mailbox' })
    work.belongsTo({ credentialId: sourceId, organizationId })
    return work
  }

  /** Undefined when it is not to be looked into: it was revoked, or its organization may not take in bounces now. */
  async open({ organizationId, sourceId }: MailboxKey): Promise<PolledMailbox | undefined> {
    const { database, policies, secrets } = this.#options
    const { record } = (await database.get(ingestSources, { organizationId }, sourceId)) ?? {}
    if (!record?.imap) return undefined
    const { organization, projects } = await policies.of(organizationId)
    // of an organization that is deleted no project is left
    if (projects.size === 0 || !isSwitchedOn(organization, 'bounce_sources')) return undefined
    const { sealedPassword: _, ...imap } = record.imap
    const { checkpoint } = await this.#poll({ organizationId, sourceId })
    return { organizationId, sourceId, imap, password: openImapPassword(secrets, record), checkpoint }
  }

  /** Takes a mail and moves on behind it, in one write. Throws when the source was revoked meanwhile, or nothing could be stored. */
  async take(key: MailboxKey, { at, reading, raw }: PolledMail): Promise<void> {
    // by name, as callers have more than the key, such as a password
    const { organizationId, sourceId } = key
    const origin = { organizationId, sourceId, channel: 'mailbox', hasNullSender: hasNullSender(raw), raw } as const
    const stored = await this.#source(key)
    if (!stored) throw new Refusal('not_found', 'The ingest source was revoked.')
    const poll = await this.#poll(key)
    await this.#options.feedback.take(origin, reading.events, (change) => this.#write(change, stored, key, { ...poll, checkpoint: at }))
  }

  /** Moves on behind a mail that cannot be read, and counts it. */
  async skip(key: MailboxKey, at: Checkpoint): Promise<void> {
    await this.#update(key, (poll) => ({ ...poll, checkpoint: at, skipped: (poll.skipped ?? 0) + 1 }))
  }

  /** All is well, and everything up to `at` was taken. */
  async succeeded(key: MailboxKey, at: Checkpoint): Promise<void> {
    const now = this.#options.clock.now()
    await this.#update(key, (poll) => ({ ...poll, checkpoint: at, lastPolledAt: now, lastError: null, lastErrorAt: null }))
  }

  /** `error` is one sentence without secrets. */
  async failed(key: MailboxKey, error: string): Promise<void> {
    const now = this.#options.clock.now()
    await this.#update(key, (poll) => ({ ...poll, lastError: error, lastErrorAt: now }))
  }

  async #update(key: MailboxKey, next: (poll: SourcePoll) => SourcePoll): Promise<void> {
    const stored = await this.#source(key)
    const poll = await this.#poll(key)
    // it fails only when the source was revoked, and then nothing is to be kept
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

/** By the field that the last server wrote (RFC 5321 §4.4); undefined when there is none. */
function hasNullSender(raw: Uint8Array): boolean | undefined {
  const head = Buffer.from(raw.buffer, raw.byteOffset, Math.min(raw.length, 64 * 1024)).toString('latin1')
  const [block = ''] = head.split(/\r?\n\r?\n/, 1)
  const [, path] = /^return-path[ \t]*:[ \t]*(<[^>\r\n]*>)/im.exec(block) ?? []
  return path === undefined ? undefined : path === '<>'
}
