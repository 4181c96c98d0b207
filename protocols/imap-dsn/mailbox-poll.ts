/** Polls a mailbox once over a new connection: processes each mail after the checkpoint in order and commits it before the next. */
import type { ReportReading } from '#core/feedback/event.ts'
import type { MailboxKey, PolledMailbox, PolledMailboxes } from '#core/feedback/intake/polled-mailboxes.ts'
import type { Work } from '#core/fairness/work.ts'
import type { ReportResult } from '#ingest/report/report-reader.ts'
import { maxReadOctets, openMailbox, type ImapMailbox, type ImapNetwork } from './mailbox.ts'
import { PollFailure } from './poll-failure.ts'

export interface RoundParts {
  readonly mailboxes: PolledMailboxes
  readonly network: ImapNetwork
  /** `turn`: the organization. Organizations take turns. */
  readonly readReport: (mail: Uint8Array, turn: string) => Promise<ReportResult>
}

export interface RoundResult {
  readonly mails: number
  readonly reports: number
  readonly skipped: number
  /** The mailbox has more new mails than one poll processes. */
  readonly isUnfinished: boolean
}

/** Limits a poll, so that a mailbox with many mails does not delay the others. */
const maxMails = 500
/** In which the library reads `maxReadOctets`, in turns of its own. */
const libraryMs = 1.5
const starttlsPort = 143

/** Returns undefined if the mailbox is no longer to be polled. Throws `PollFailure`; mails committed until then stay committed. */
export async function pollOnce(parts: RoundParts, key: MailboxKey, signal: AbortSignal): Promise<RoundResult | undefined> {
  const source = await storing(() => parts.mailboxes.open(key))
  if (!source) return undefined
  const mailbox = await openMailbox(parts.network, loginOf(source), signal)
  const work = parts.mailboxes.begin(key)
  try {
    return await work.run(() => readNew(parts, { source, mailbox, work, signal }))
  } finally {
    work.end()
    await mailbox.leave()
  }
}

function loginOf({ imap, password }: PolledMailbox): Parameters<typeof openMailbox>[1] {
  if (password === undefined) throw new PollFailure('password')
  return { ...imap, password, security: imap.port === starttlsPort ? 'starttls' : 'tls' }
}

interface Round {
  readonly source: PolledMailbox
  readonly mailbox: ImapMailbox
  readonly work: Work
  readonly signal: AbortSignal
}

async function readNew({ mailboxes, readReport }: RoundParts, { source, mailbox, work, signal }: Round): Promise<RoundResult> {
  const { uidValidity } = mailbox
  const { checkpoint } = source
  // with another UIDVALIDITY, the poll reads all mails again; the content identifies mails that were already processed
  let lastUid = checkpoint?.uidValidity === uidValidity ? checkpoint.lastUid : 0
  const uids = await mailbox.uidsAfter(lastUid)
  let [mails, reports, skipped] = [0, 0, 0]
  for (const uid of uids.slice(0, maxMails)) {
    await work.after(work.pace())
    if (signal.aborted) throw new PollFailure('time')
    const raw = await work.after(mailbox.read(uid))
    work.spend(((raw?.length ?? 0) / maxReadOctets) * libraryMs)
    const at = { uidValidity, lastUid: uid }
    const reading = raw && (await readOrNothing((mail) => readReport(mail, source.organizationId), raw))
    if (raw && reading) await storing(() => mailboxes.take(source, { at, reading, raw }))
    else {
      await storing(() => mailboxes.skip(source, at))
      skipped++
    }
    if (reading && reading.events.length > 0) reports++
    mails++
    lastUid = uid
  }
  await storing(() => mailboxes.succeeded(source, { uidValidity, lastUid }))
  return { mails, reports, skipped, isUnfinished: uids.length > maxMails }
}

/** Reads a mail as a report. Returns undefined if reading fails, so that the poll can continue with the next mail. */
async function readOrNothing(readReport: (mail: Uint8Array) => Promise<ReportResult>, raw: Uint8Array): Promise<ReportReading | undefined> {
  try {
    const { problem, ...reading } = await readReport(raw)
    return problem === undefined ? reading : undefined
  } catch {
    return undefined
  }
}

async function storing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new PollFailure('store', error)
  }
}
