/** What tests of composed messages must know of the order of parts and of the readers that judge them. */
import type { Attachment } from '#core/submission/attachments.ts'
import type { SendRequest } from '#core/submission/compose.ts'

/** Inline files stand with the HTML, before the others. */
export function filesInOrder({ attachments, html }: SendRequest): readonly Attachment[] {
  const inline = attachments.filter(({ contentId }) => contentId !== undefined && html !== undefined)
  return [...inline, ...attachments.filter((file) => !inline.includes(file))]
}

/**
 * What Python objects to and we mean: encoded words inside quotes, which RFC 2047 §5 does not have and everybody writes and
 * reads for names of files beyond ASCII; and local parts of RFC 6532, which is newer than its grammar.
 */
export function isMeant(defect: string, { to, attachments }: Pick<SendRequest, 'to' | 'attachments'>): boolean {
  const inQuotes =
    /\/Content-Type: InvalidHeaderDefect: (?:encoded word inside quoted string|missing trailing whitespace after encoded-word)$/
  if (inQuotes.test(defect)) return attachments.some(({ filename }) => /[^ -~]/.test(filename))
  return /\/To: NonASCIILocalPartDefect: /.test(defect) && to.some(({ local }) => /[^ -~]/.test(local))
}
