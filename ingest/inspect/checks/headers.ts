/** Check 12: the header against RFC 5322, with what large receivers refuse. */
import { addressList } from '../../mime/address-list.ts'
import { decodeEncodedWords } from '../../mime/encoded-words.ts'
import type { Facts } from '../facts/mail-facts.ts'
import { countOf, valueOf, type Mail } from '../facts/parsed-mail.ts'
import { failedFor, lessForEach, type Finding, type Verdict } from './verdict.ts'

/** RFC 5322 §3.6: at most one of each. */
const single = [
  'Date',
  'From',
  'Sender',
  'Reply-To',
  'To',
  'Cc',
  'Bcc',
  'Message-ID',
  'In-Reply-To',
  'References',
  'Subject',
  'MIME-Version',
]
const maxLine = 998
const maxHead = 64 * 1024
const maxRecipients = 50
const dayMs = 86_400_000
const aheadMs = 600_000

export function checkHeaders(facts: Facts): Verdict {
  const hard = [...hardFaults(facts.mail), ...rawFaults(facts)]
  if (hard.length > 0) return failedFor(hard)
  return lessForEach('headers', softFaults(facts), 2, 2, 'The header is in order.')
}

function hardFaults(mail: Mail): Finding[] {
  const { fields, from } = mail
  const faults: Finding[] = []
  const doubled = single.filter((name) => countOf(fields, name.toLowerCase()) > 1)
  for (const name of doubled)
    faults.push({
      text: `${name} occurs ${countOf(fields, name.toLowerCase())} times.`,
      fix: `Send ${name} exactly once; look for programs that add it again.`,
    })
  const authors = from.filter(({ address }) => address !== '')
  if (countOf(fields, 'from') === 0 || authors.length === 0)
    faults.push({ text: 'There is no From address.', fix: 'Send with exactly one From address.' })
  else if (authors.length > 1 && valueOf(fields, 'sender') === undefined)
    faults.push({ text: `From names ${authors.length} addresses and there is no Sender.`, fix: 'Send with exactly one From address.' })
  const date = valueOf(fields, 'date')
  if (date === undefined) faults.push({ text: 'There is no Date.', fix: 'Add a Date field with the time of sending.' })
  else if (dateOf(date) === undefined)
    faults.push({ text: `The Date cannot be read: ${date}`, fix: 'Write it as in "Sat, 21 Nov 2026 10:00:00 +0100".' })
  return faults
}

function rawFaults({ mail, input }: Facts): Finding[] {
  const faults: Finding[] = []
  if (mail.head.split('\n').some((line) => line.replace(/\r$/, '').length > maxLine))
    faults.push({ text: `A header line has more than ${maxLine} octets.`, fix: 'Fold long header fields.' })
  if (input.session.bareLineEnd === 'header' || /\r(?!\n)|(?<!\r)\n|\0/.test(mail.head))
    faults.push({
      text: 'The header has a bare CR, a bare LF or a NUL.',
      fix: 'End every line with CRLF; check for line ends inside values.',
    })
  if (/[^\0-\x7f]/.test(mail.head) && !input.session.smtpUtf8)
    faults.push({ text: 'The header has characters beyond ASCII that are not encoded.', fix: 'Write them as encoded words (RFC 2047).' })
  return faults
}

function softFaults(facts: Facts): Finding[] {
  const { mail, input } = facts
  const { fields } = mail
  const faults = [...idFaults(valueOf(fields, 'message-id')), ...timeFaults(valueOf(fields, 'date') ?? '', input.session.receivedAt)]
  const to = addressList(valueOf(fields, 'to') ?? '').length
  if (to > maxRecipients) faults.push({ text: `To lists ${to} addresses.`, fix: 'Send one message to each recipient.' })
  if (valueOf(fields, 'to') === undefined && valueOf(fields, 'cc') === undefined)
    faults.push({ text: 'There is neither To nor Cc.', fix: 'Name the recipient in To.' })
  const hasMime = ['content-type', 'content-transfer-encoding'].some((name) => valueOf(fields, name) !== undefined)
  if (hasMime && valueOf(fields, 'mime-version') === undefined)
    faults.push({ text: 'MIME content without MIME-Version.', fix: 'Add "MIME-Version: 1.0".' })
  if (
    ['subject', 'from', 'to', 'reply-to'].some((name) =>
      /=\?[^?\s]{1,60}\?[bq]\?[^?]{0,500}\?=/i.test(decodeEncodedWords(valueOf(fields, name) ?? '')),
    )
  )
    faults.push({ text: 'An encoded word is encoded twice or not in the right form.', fix: 'Encode each header value exactly once.' })
  if (mail.head.length > maxHead) faults.push({ text: 'The header has more than 64 KiB.', fix: 'Remove fields that are not needed.' })
  if (valueOf(fields, 'bcc') !== undefined) faults.push({ text: 'Bcc is visible to the recipient.', fix: 'Remove Bcc before sending.' })
  if (/^\s*yes\b/i.test(valueOf(fields, 'x-spam-flag') ?? ''))
    faults.push({
      text: 'The mail says of itself that it is spam (X-Spam-Flag).',
      fix: 'Remove the field, and find out why your own filter set it.',
    })
  return faults
}

function idFaults(id: string | undefined): Finding[] {
  const fix = 'Let the sending program write a Message-ID such as <unique-text@example.com>, with your domain.'
  if (id === undefined) return [{ text: 'There is no Message-ID; Gmail refuses such mail.', fix }]
  const right = /^\s*<[^<>@\s]+@([^<>@\s]+)>\s*$/.exec(id)?.[1]
  if (right === undefined) return [{ text: 'The Message-ID does not have the form <left@right>.', fix }]
  const isBare = !right.includes('.') || /^localhost(?:\.|$)/i.test(right) || /^\[?[\d.]+\]?$|^\[.*\]$/.test(right)
  return isBare ? [{ text: `The Message-ID ends in ${right} and not in a domain.`, fix }] : []
}

function timeFaults(date: string, receivedAt: number): Finding[] {
  const at = dateOf(date)
  if (at === undefined) return []
  const fix = 'Correct the clock or the time zone of the server that writes the mail.'
  const faults: Finding[] = []
  if (receivedAt - at > dayMs) faults.push({ text: 'The Date is more than a day ago.', fix })
  if (at - receivedAt > aheadMs) faults.push({ text: 'The Date lies in the future.', fix })
  if (/[a-z]\s*$/i.test(withoutComments(date)))
    faults.push({ text: 'The Date names its zone in letters.', fix: 'Write the zone as in +0100.' })
  return faults
}

const form =
  /^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),?\s+)?(\d{1,2})\s+(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s+(\d{4}|\d{2})\s+(\d{2}:\d{2}(?::\d{2})?)\s+([+-]\d{4}|UT|GMT|[ECMP][SD]T|[A-IK-Z])$/i

/** Milliseconds since the epoch (RFC 5322 §3.3, §4.3); undefined for what is no date. */
function dateOf(value: string): number | undefined {
  const [, day = '', month = '', year = '', time = '', zone = ''] = form.exec(withoutComments(value)) ?? []
  const full = year.length === 2 ? String((Number(year) < 50 ? 2000 : 1900) + Number(year)) : year
  const at = Date.parse(`${day} ${month} ${full} ${time} ${/^[a-z]$/i.test(zone) ? 'GMT' : zone}`)
  return Number.isNaN(at) ? undefined : at
}

const withoutComments = (text: string): string => text.replaceAll(/\([^()]{0,200}\)/g, ' ').trim()
