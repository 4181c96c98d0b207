/** Check 14: structure, size and attachments of the mail. */
import { BrokenMime } from '../../mime/mime-head.ts'
import { placedParts, type PlacedPart } from '../../mime/mime-tree.ts'
import { decodeBody } from '../../mime/transfer-encoding.ts'
import { dangersOf } from './dangers.ts'
import { isWordless, type Facts } from '../facts/mail-facts.ts'
import type { Mail } from '../facts/parsed-mail.ts'
import { failedFor, lessForEach, type Finding, type Verdict } from './verdict.ts'
import { say, term } from '../sentences/say.ts'

const maxHtml = 102_400
const maxLine = 998
const maxMessage = 10 * 1024 * 1024
const maxWords = 20_000
const maxQuoted = 2 * 1024 * 1024

export function checkMimeStructure(facts: Facts): Verdict {
  const { mail, input } = facts
  const structure = structureOf(mail.raw, input.session.bareLineEnd !== undefined)
  const grave = [...structure.grave, ...mail.attachments.flatMap(dangersOf)]
  const evidence = [
    { label: term('parts'), value: mail.parts.map(({ type }) => type).join(', ') },
    { label: term('size'), value: term('octets', { count: mail.raw.length }) },
    ...(mail.html === null ? [] : [{ label: 'HTML', value: term('octets', { count: mail.htmlOctets }) }]),
    ...mail.attachments.map(({ filename, type }) => ({
      label: term('attachment'),
      value: filename === '' ? term('nameless', { type }) : `${filename} (${type})`,
    })),
  ]
  if (grave.length > 0) return { ...failedFor(grave), evidence }
  return { ...lessForEach('mime_structure', [...bodyFindings(facts), ...structure.soft], 2, 1, say('mime_pass')), evidence }
}

/** Reports whether receivers refuse an attachment of the mail. Also used for a score cap. */
export const hasDanger = (mail: Mail): boolean => mail.attachments.some((attachment) => dangersOf(attachment).length > 0)

interface Structure {
  readonly grave: readonly Finding[]
  readonly soft: readonly Finding[]
}

function structureOf(raw: Buffer, hadBareLineEnd: boolean): Structure {
  const grave: Finding[] = []
  if (hadBareLineEnd || hasBareLineEnd(raw)) grave.push({ text: say('mime_bare_line'), fix: say('fix_mime_lines') })
  try {
    const leaves = placedParts(raw).filter(({ type }) => !type.startsWith('multipart/'))
    const undecodable = leaves.filter((part) => decoded(raw, part) === undefined)
    if (undecodable.length > 0)
      grave.push({
        text: say('mime_undecodable', { type: undecodable[0]?.type ?? '' }),
        fix: say('fix_mime_encoding'),
      })
    return { grave, soft: [...encodingFindings(raw, leaves), ...lineFindings(raw)] }
  } catch (error) {
    if (!(error instanceof BrokenMime)) throw error
    return {
      grave: [...grave, { text: say('mime_broken', { reason: error.message }), fix: say('fix_mime_library') }],
      soft: [],
    }
  }
}

/** The decoded octets of a part. Quoted-printable needs much memory to decode, so only the lines of its first 2 MiB are decoded. */
function decoded(raw: Buffer, { bodyStart, bodyEnd, encoding }: PlacedPart): Buffer | undefined {
  const body = raw.subarray(bodyStart, bodyEnd)
  if (encoding !== 'quoted-printable' || body.length <= maxQuoted) return decodeBody(body, encoding)
  const end = body.lastIndexOf('\r\n', maxQuoted)
  return decodeBody(body.subarray(0, Math.max(end, 0)), encoding)
}

function hasBareLineEnd(raw: Buffer): boolean {
  for (let at = raw.indexOf(0x0a); at >= 0; at = raw.indexOf(0x0a, at + 1)) if (at === 0 || raw[at - 1] !== 0x0d) return true
  for (let at = raw.indexOf(0x0d); at >= 0; at = raw.indexOf(0x0d, at + 1)) if (raw[at + 1] !== 0x0a) return true
  return false
}

function lineFindings(raw: Buffer): Finding[] {
  let start = 0
  for (let feed = raw.indexOf(0x0a); feed >= 0; feed = raw.indexOf(0x0a, start)) {
    if (feed - 1 - start > maxLine) return [{ text: say('mime_long_line', { max: maxLine }), fix: say('fix_mime_long_line') }]
    start = feed + 1
  }
  return []
}

function encodingFindings(raw: Buffer, leaves: readonly PlacedPart[]): Finding[] {
  const findings: Finding[] = []
  const isBeyondAscii = (part: PlacedPart): boolean => raw.subarray(part.bodyStart, part.bodyEnd).some((octet) => octet > 127)
  if (leaves.some((part) => !/^(?:8bit|binary)$/.test(part.encoding) && isBeyondAscii(part)))
    findings.push({
      text: say('mime_eight_bit'),
      fix: say('fix_mime_eight_bit'),
    })
  const texts = leaves.filter((part) => /^text\/(?:plain|html)$/.test(part.type) && !part.attached)
  const lacks = (part: PlacedPart): boolean => {
    if (part.parameters.has('charset')) return false
    return (decoded(raw, part) ?? Buffer.alloc(0)).some((octet) => octet > 127)
  }
  if (texts.some(lacks)) findings.push({ text: say('mime_charset'), fix: say('fix_mime_charset') })
  return findings
}

function bodyFindings(facts: Facts): Finding[] {
  const { mail, page } = facts
  const findings: Finding[] = []
  if (isWordless(facts)) findings.push({ text: say('mime_no_words'), fix: say('fix_mime_no_words') })
  const { text, html, htmlOctets, raw } = mail
  if (html !== null && text === null)
    findings.push({
      text: say('mime_html_alone'),
      fix: say('fix_mime_text'),
    })
  else if (text !== null && page && saysOther(text, page.text))
    findings.push({ text: say('mime_texts_differ'), fix: say('fix_mime_same_text') })
  if (htmlOctets > maxHtml) findings.push({ text: say('mime_large_html', { max: maxHtml }), fix: say('fix_mime_html') })
  if (raw.length > maxMessage) findings.push({ text: say('mime_large'), fix: say('fix_mime_large') })
  return findings
}

/** True if less than 40 % of the words of the HTML occur in the text. */
function saysOther(text: string, shown: string): boolean {
  const words = wordsOf(shown)
  if (words.size < 5) return false
  const inText = wordsOf(text)
  return [...words].filter((word) => inText.has(word)).length < words.size * 0.4
}

const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(
    (
      text
        .toLowerCase()
        .replaceAll(/https?:\/\/\S{1,4000}/g, ' ')
        .match(/[\p{L}\p{N}]{3,40}/gu) ?? []
    ).slice(0, maxWords),
  )
