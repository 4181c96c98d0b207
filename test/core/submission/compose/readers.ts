/** Complete messages for tests of composing, and known limits of the parsers that read them. */
import type { Attachment } from '#core/submission/compose/attachments.ts'
import { compose, type SendRequest } from '#core/submission/compose/compose.ts'
import { startOfTime } from '../../../support/fake-clock.ts'

export const traceId = '5f0c1f60-3c5e-4b58-9d1e-0f6f8f7b6a11'

/** Returns the complete message of a request, and checks its announced size. */
export function composedOf(request: SendRequest, id = traceId): Buffer {
  const { size, pieces } = compose(request, id, startOfTime)
  const octets = Buffer.concat(
    pieces.flatMap((piece) => (Buffer.isBuffer(piece) ? [piece] : Array.from(piece.lines(), (each) => Buffer.from(each)))),
  )
  if (octets.length !== size) throw new Error(`${octets.length} octets, announced as ${size}`)
  return octets
}

/** Inline files precede other files, next to the HTML. */
export function filesInOrder({ attachments, html }: SendRequest): readonly Attachment[] {
  const inline = attachments.filter(({ contentId }) => contentId !== undefined && html !== undefined)
  return [...inline, ...attachments.filter((file) => !inline.includes(file))]
}

/**
 * Defects that Python reports and we intend: encoded words in quotes, which RFC 2047 §5 forbids but all programs write for non-ASCII file
 * names, and local parts of RFC 6532, which is newer than its grammar.
 */
export function isMeant(defect: string, { to, attachments }: Pick<SendRequest, 'to' | 'attachments'>): boolean {
  const inQuotes =
    /\/Content-Type: InvalidHeaderDefect: (?:encoded word inside quoted string|missing trailing whitespace after encoded-word)$/
  if (inQuotes.test(defect)) return attachments.some(({ filename }) => /[^ -~]/.test(filename))
  return /\/To: NonASCIILocalPartDefect: /.test(defect) && to.some(({ local }) => /[^ -~]/.test(local))
}
