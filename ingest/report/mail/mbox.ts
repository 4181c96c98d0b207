/** Splits mbox files (RFC 4155), the format of archives and of the Unix `mail` program. */
import { withLineFeeds } from './report-mail.ts'

const maxMails = 1000
/** `From `, an address and a date. Within a mail, such a line is escaped with `>`. */
const postmark = /^From \S{1,320}[ \t]+(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[ \t]+(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[ \t]+\d/
const maxLine = 500

/** The mails of an mbox file, with LF line ends. Other input counts as one mail. */
export function mailsOf(raw: Uint8Array): Buffer[] {
  const octets = withLineFeeds(raw)
  if (!isPostmark(octets, 0)) return [octets]
  const mails: Buffer[] = []
  let start = 0
  for (let at = octets.indexOf('\nFrom '); at >= 0 && mails.length < maxMails - 1; at = octets.indexOf('\nFrom ', at + 1)) {
    if (octets[at - 1] !== 0x0a || !isPostmark(octets, at + 1)) continue
    mails.push(octets.subarray(start, at + 1))
    start = at + 1
  }
  return [...mails, octets.subarray(start)]
}

const isPostmark = (octets: Buffer, at: number): boolean => postmark.test(octets.toString('latin1', at, at + maxLine))
