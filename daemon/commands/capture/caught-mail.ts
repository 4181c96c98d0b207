/** Reads the mail in the inbox of a run and checks it against the expectations. */
import type { CapturedMessage, CaptureSummary } from '#core/capture/inboxes/inboxes.ts'
import { decodeEncodedWords } from '#ingest/mime/encoded-words.ts'
import { check, type CaughtMail, type Expectation, type Verdict } from './expectations.ts'
import type { Instance } from './instance.ts'

const pollMs = 50

/**
 * Resolves as soon as all expectations are met and no delivery or report is pending. Otherwise resolves with the verdicts at the end of the
 * wait.
 */
export async function awaitVerdicts(
  instance: Instance,
  expectations: readonly Expectation[],
  { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal },
): Promise<readonly Verdict[]> {
  const clock = instance.part('clock')
  const end = clock.monotonic() + waitMs
  for (;;) {
    const isBusy = instance.isBusy()
    const verdicts = await verdictsOf(instance, expectations)
    const isDone = !isBusy && verdicts.every(({ fault }) => fault === undefined)
    if (isDone || signal.aborted || clock.monotonic() >= end) return verdicts
    await new Promise<void>((resolve) => void setTimeout(resolve, pollMs))
  }
}

async function verdictsOf(instance: Instance, expectations: readonly Expectation[]): Promise<Verdict[]> {
  const mails = await caught(
    instance,
    expectations.some(({ readsBodies }) => readsBodies),
  )
  return expectations.map((expectation) => check(expectation, mails))
}

/** Lists captured mail in order of arrival. Reads bodies only if an expectation needs them. */
async function caught({ part, principal, access }: Instance, withBodies: boolean): Promise<CaughtMail[]> {
  const { inboxes } = part('inboxes')
  const mails: CaughtMail[] = []
  let cursor: string | undefined
  do {
    const page = await inboxes.messages(principal, access.inbox_id, { limit: 100, cursor, since: { at: 0 } })
    for (const summary of page.rows)
      mails.push(toMail(summary, withBodies ? await inboxes.message(principal, access.inbox_id, summary.capture.id) : undefined))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return mails
}

function toMail({ capture, trace }: CaptureSummary, message: CapturedMessage | undefined): CaughtMail {
  const read = message?.read.ok ? message.read.message : undefined
  return {
    from: capture.intendedFrom,
    to: capture.intendedTo,
    subject: decodeEncodedWords(trace.subject),
    text: read?.text ?? '',
    html: read?.html ?? '',
    attachments: read?.attachments.map(({ filename }) => filename) ?? [],
  }
}
