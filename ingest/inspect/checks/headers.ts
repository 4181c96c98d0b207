/** Check 12: whether the header conforms to RFC 5322 and to the rules of large receivers. */
import { addressList } from '../../mime/address-list.ts'
import { decodeEncodedWords } from '../../mime/encoded-words.ts'
import type { Facts } from '../facts/mail-facts.ts'
import { countOf, valueOf, type Mail } from '../facts/parsed-mail.ts'
import { failedFor, lessForEach, type Finding, type Verdict } from './verdict.ts'
import { say } from '../sentences/say.ts'

/** Fields that may occur once at most (RFC 5322 §3.6). */
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
  return lessForEach('headers', softFaults(facts), 2, 2, say('header_pass'))
}

function hardFaults(mail: Mail): Finding[] {
  const { fields, from } = mail
  const faults: Finding[] = []
  const doubled = single.filter((name) => countOf(fields, name.toLowerCase()) > 1)
  for (const name of doubled)
    faults.push({
      text: say('header_doubled', { field: name, count: countOf(fields, name.toLowerCase()) }),
      fix: say('fix_header_once', { field: name }),
    })
  const authors = from.filter(({ address }) => address !== '')
  if (countOf(fields, 'from') === 0 || authors.length === 0) faults.push({ text: say('header_no_from'), fix: say('fix_one_from') })
  else if (authors.length > 1 && valueOf(fields, 'sender') === undefined)
    faults.push({ text: say('header_no_sender', { count: authors.length }), fix: say('fix_one_from') })
  const date = valueOf(fields, 'date')
  if (date === undefined) faults.push({ text: say('header_no_date'), fix: say('fix_header_date') })
  else if (dateOf(date) === undefined) faults.push({ text: say('header_bad_date', { date }), fix: say('fix_header_date_form') })
  return faults
}

function rawFaults({ mail, input }: Facts): Finding[] {
  const faults: Finding[] = []
  if (mail.head.split('\n').some((line) => line.replace(/\r$/, '').length > maxLine))
    faults.push({ text: say('header_long_line', { max: maxLine }), fix: say('fix_header_fold') })
  if (input.session.bareLineEnd === 'header' || /\r(?!\n)|(?<!\r)\n|\0/.test(mail.head))
    faults.push({
      text: say('header_bare_line'),
      fix: say('fix_header_lines'),
    })
  if (/[^\0-\x7f]/.test(mail.head) && !input.session.smtpUtf8) faults.push({ text: say('header_not_ascii'), fix: say('fix_header_encode') })
  return faults
}

function softFaults(facts: Facts): Finding[] {
  const { mail, input } = facts
  const { fields } = mail
  const faults = [...idFaults(valueOf(fields, 'message-id')), ...timeFaults(valueOf(fields, 'date') ?? '', input.session.receivedAt)]
  const to = addressList(valueOf(fields, 'to') ?? '').length
  if (to > maxRecipients) faults.push({ text: say('header_many_to', { count: to }), fix: say('fix_header_many_to') })
  if (valueOf(fields, 'to') === undefined && valueOf(fields, 'cc') === undefined)
    faults.push({ text: say('header_no_to'), fix: say('fix_header_to') })
  const hasMime = ['content-type', 'content-transfer-encoding'].some((name) => valueOf(fields, name) !== undefined)
  if (hasMime && valueOf(fields, 'mime-version') === undefined) faults.push({ text: say('header_no_mime'), fix: say('fix_header_mime') })
  if (
    ['subject', 'from', 'to', 'reply-to'].some((name) =>
      /=\?[^?\s]{1,60}\?[bq]\?[^?]{0,500}\?=/i.test(decodeEncodedWords(valueOf(fields, name) ?? '')),
    )
  )
    faults.push({ text: say('header_encoded_twice'), fix: say('fix_header_encoded_once') })
  if (mail.head.length > maxHead) faults.push({ text: say('header_large'), fix: say('fix_header_large') })
  if (valueOf(fields, 'bcc') !== undefined) faults.push({ text: say('header_bcc'), fix: say('fix_header_bcc') })
  if (/^\s*yes\b/i.test(valueOf(fields, 'x-spam-flag') ?? ''))
    faults.push({
      text: say('header_spam_flag'),
      fix: say('fix_header_spam_flag'),
    })
  return faults
}

function idFaults(id: string | undefined): Finding[] {
  const fix = say('fix_header_id')
  if (id === undefined) return [{ text: say('header_no_id'), fix }]
  const right = /^\s*<[^<>@\s]+@([^<>@\s]+)>\s*$/.exec(id)?.[1]
  if (right === undefined) return [{ text: say('header_bad_id'), fix }]
  const isBare = !right.includes('.') || /^localhost(?:\.|$)/i.test(right) || /^\[?[\d.]+\]?$|^\[.*\]$/.test(right)
  return isBare ? [{ text: say('header_local_id', { right }), fix }] : []
}

function timeFaults(date: string, receivedAt: number): Finding[] {
  const at = dateOf(date)
  if (at === undefined) return []
  const fix = say('fix_header_clock')
  const faults: Finding[] = []
  if (receivedAt - at > dayMs) faults.push({ text: say('header_old_date'), fix })
  if (at - receivedAt > aheadMs) faults.push({ text: say('header_future_date'), fix })
  if (/[a-z]\s*$/i.test(withoutComments(date))) faults.push({ text: say('header_zone'), fix: say('fix_header_zone') })
  return faults
}

const form =
  /^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),?\s+)?(\d{1,2})\s+(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s+(\d{4}|\d{2})\s+(\d{2}:\d{2}(?::\d{2})?)\s+([+-]\d{4}|UT|GMT|[ECMP][SD]T|[A-IK-Z])$/i

/** Milliseconds since the epoch (RFC 5322 §3.3, §4.3), or undefined if the value is not a date. */
function dateOf(value: string): number | undefined {
  const [, day = '', month = '', year = '', time = '', zone = ''] = form.exec(withoutComments(value)) ?? []
  const full = year.length === 2 ? String((Number(year) < 50 ? 2000 : 1900) + Number(year)) : year
  const at = Date.parse(`${day} ${month} ${full} ${time} ${/^[a-z]$/i.test(zone) ? 'GMT' : zone}`)
  return Number.isNaN(at) ? undefined : at
}

const withoutComments = (text: string): string => text.replaceAll(/\([^()]{0,200}\)/g, ' ').trim()
