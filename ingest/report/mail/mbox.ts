/** Mailboxes in one file (RFC 4155): what archives and `mail` on Unix hand over. */
import { withLineFeeds } from './report-mail.ts'

const maxMails = 1000
/** `From ` and an address and a date; a line in a mail that begins so has a `>` before it. */
const postmark = /^From \S{1,320}[ \t]+(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[ \t]+(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[ \t]+\d/
const maxLine = 500

/** The mails of a mailbox, with LF as line end; anything else is one mail. */
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
