/** Records a mail to a return path that cannot be parsed as a report: only its arrival. */
import { createHash } from 'node:crypto'
import type { FeedbackEvent } from '../feedback/event.ts'

const maxSubject = 200

/**
 * Returns an event that annotates the trace and never changes a state. A null reverse-path alone does not prove a failure, and anybody who
 * knows the return path can send mail to it.
 */
export function unparsedBounce(raw: Uint8Array, returnPath: string): FeedbackEvent {
  const subject = subjectOf(raw)
  return {
    format: 'dsn',
    type: 'bounce_unparsed',
    key: createHash('sha256').update('bounce_unparsed\0').update(returnPath.toLowerCase()).update('\0').update(raw).digest('hex'),
    occurredAt: null,
    recipient: null,
    originalRecipient: null,
    action: null,
    status: null,
    smtpCode: null,
    diagnostic: subject === '' ? null : `Subject: ${subject}`,
    remoteMta: null,
    remoteIp: null,
    reportingMta: null,
    feedbackType: null,
    isStructured: false,
    clues: { returnPaths: [returnPath], references: [], envelopeIds: [], messageIds: [], queueIds: [], originalTo: [] },
  }
}

/** Returns the raw Subject from the first lines, printable and not decoded. */
function subjectOf(raw: Uint8Array): string {
  const head = Buffer.from(raw.buffer, raw.byteOffset, Math.min(raw.length, 16 * 1024)).toString('latin1')
  const [block = ''] = head.split('\r\n\r\n', 1)
  const [, subject = ''] = /^subject[ \t]*:([^\r\n]*)/im.exec(block) ?? []
  return subject
    .replaceAll(/[^\x20-\x7e]/g, '?')
    .trim()
    .slice(0, maxSubject)
}
