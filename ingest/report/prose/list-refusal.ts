/** Parses notices of mailing list servers about posts that they refused. */
import type { FeedbackEvent } from '#core/feedback/event.ts'
import { decodeEncodedWords } from '../../mime/encoded-words.ts'
import { firstValue, type HeaderField } from '../../mime/header-fields.ts'
import { addressSource } from '../facts/mail-address.ts'
import { reportEvent, type ReportFrame } from '../facts/report-event.ts'

const subjects = /\bnot (?:a )?member\b|\bloop alert\b|\bnot allowed to post\b/i
const sentence = new RegExp(
  `(?:(?<loop>duplicated message-id in)|not (?:a )?member of (?:this|the) (?:mailing )?list|not allowed to post to (?:this|the) (?:mailing )?list)[\\s:]{1,4}<?(?<list>${addressSource})>?`,
  'iu',
)
const maxSearched = 4096

/** The event of a refused post: `5.7.2`, or `5.4.6` for a mail loop (RFC 3463 §3.5, §3.8). Undefined for any other mail. */
export function listRefusalEvent(fields: readonly HeaderField[], text: string, frame: ReportFrame): FeedbackEvent | undefined {
  // posts of the list also contain the name of its server
  if (firstValue(fields, 'x-mlserver') === undefined) return undefined
  if (!subjects.test(decodeEncodedWords(firstValue(fields, 'subject') ?? '').slice(0, 500))) return undefined
  const { loop, list } = sentence.exec(text.slice(0, maxSearched))?.groups ?? {}
  if (list === undefined) return undefined
  return reportEvent(frame, {
    type: 'bounced',
    isStructured: false,
    recipient: list,
    action: 'failed',
    status: loop === undefined ? '5.7.2' : '5.4.6',
    diagnostic: text.slice(0, maxSearched),
  })
}
