/** One look into a mailbox: a connection of its own, every mail behind the checkpoint in order, each durable before the next. */
import type { ReportReading } from '#core/feedback/event.ts'
import type { MailboxKey, PolledMailbox, PolledMailboxes } from '#core/feedback/intake/polled-mailboxes.ts'
import type { Work } from '#core/fairness/work.ts'
import type { ReportResult } from '#ingest/report/report-reader.ts'
import { maxReadOctets, openMailbox, type ImapMailbox, type ImapNetwork } from './mailbox.ts'
import { PollFailure } from './poll-failure.ts'

export interface RoundParts {
  readonly mailboxes: PolledMailboxes
  readonly network: ImapNetwork
  /** `turn`: the organization; these take turns. */
  readonly readReport: (mail: Uint8Array, turn: string) => Promise<ReportResult>
}

export interface RoundResult {
  readonly mails: number
  readonly reports: number
  readonly skipped: number
  /** There is more than one round takes. */
  readonly isUnfinished: boolean
}

/** So that a mailbox with many mails does not keep others waiting. */
const maxMails = 500
/** In which the library reads `maxReadOctets`, in turns of its own. */
const libraryMs = 1.5
const starttlsPort = 143

/** Undefined when the mailbox is not to be looked into any more. Throws `PollFailure`; what was taken until then stays taken. */
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
  // under another UIDVALIDITY everything is read again; what was taken before is known by its content
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

/** A mail that breaks the reader must not keep the ones behind it from being read. */
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
