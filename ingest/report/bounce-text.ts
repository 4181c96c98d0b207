/** Bounces in prose: qmail, Exim, Sendmail before 8.8, Exchange before 2007, Notes, Gmail of old, the gateways of Japanese carriers, … */
import type { HeaderField } from '../header-fields.ts'
import { addressesIn, addressSource, isMachine } from './mail-address.ts'
import { failureCodes, type ReplyCodes } from './reply-codes.ts'

/** What the prose says about one recipient. */
export interface NamedRecipient {
  readonly address: string
  /** The address that this one was made from, by an alias or a forwarding. */
  readonly original: string | undefined
  /** The words about it. */
  readonly words: string
}

const namedMax = 1000
const wordsMax = 4000
const wordLinesMax = 30

const bullets = String.raw`^[\s>*•·|#=-]{0,40}(?:\d{1,3}[.)]\s+)?`
/** A line that begins with an address: `<a@b>:`, `a@b`, `* a@b`, `a@b [User unknown]`, `name@b <a@b>: …`. */
const ownLine = new RegExp(`${bullets}["'(]?<?(${addressSource})>?["')]?(?:\\s?<(${addressSource})>)?(?<rest>.*)$`, 'u')
/** A label with an address: `Recipient: <a@b>`, `RCPT TO:<a@b>`, `Failed recipient: a@b`. */
const labelled = new RegExp(
  `(?:\\brcpt to|recipients?(?: address(?:es)?)?|(?:failed|invalid|unknown|bad) (?:address|user|recipient|final delivery userid)|address|mailbox|user(?:id)?|delivered to|delivery failed|[^\\w]to|宛先|送信先)\\s{0,4}[:：]\\s{0,8}["']?<?(${addressSource})>?`,
  'iu',
)
/** Sendmail: a reply that names whom it is about. */
const repliedTo = new RegExp(`^[\\s<]{0,10}[45]\\d\\d[ -](?:[45]\\.\\d{1,3}\\.\\d{1,3} )?<(${addressSource})>`, 'u')
const failing =
  /fail|unable|undeliver|(?:could|can|was|were|did|does|is) ?n[o']t|cannot|error|unknown|invalid|reject|full|quota|bounce|refus|disabled|denied|no such|exceed|problem|delay|でき|失敗|ありません|不明|エラー/iu
const ofTheReport =
  /^\s*(?:from|reply-to|cc|bcc|sender|return-path|subject|date|message-id|errors-to|to|x-[\w-]+|mail from|received|list-[\w-]+)\s*:/i
const madeFrom = new RegExp(
  `(?:generated (?:from|by)|expanded from:?|forwarded from|originally addressed to|alias(?:ed)? (?:from|of))\\s+<?(${addressSource})>?`,
  'iu',
)

/**
 * Whom the lines of a notice name as not reached, in order and once each. Lines that begin with an address count most;
 * only where there are none do labels, replies and sentences count. `ownAddresses` are those of the report itself.
 */
export function namedRecipients(lines: readonly string[], ownAddresses: ReadonlySet<string>): NamedRecipient[] {
  for (const find of [byOwnLine, byReply, byLabel, bySentence]) {
    const found = new Map<string, { address: string; original: string | undefined; words: string[] }>()
    for (const [at, line] of lines.entries()) {
      if (!line.includes('@')) continue
      for (const address of find(line, lines, at)) {
        const key = address.toLowerCase()
        if (found.size === namedMax && !found.has(key)) break
        const entry = found.get(key) ?? { address, original: undefined, words: [] }
        entry.words.push(...wordsAt(lines, at))
        entry.original ??= madeFrom.exec(entry.words.join(' ').slice(0, wordsMax))?.[1]
        found.set(key, entry)
      }
    }
    const all = [...found.values()]
    const others = all.filter(({ address }) => !ownAddresses.has(address.toLowerCase()))
    const kept = others.length > 0 || find === bySentence ? others : all
    if (kept.length > 0) return kept.map(({ words, ...entry }) => ({ ...entry, words: words.join('\n').slice(0, wordsMax) }))
  }
  return []
}

type Finder = (line: string, lines: readonly string[], at: number) => readonly string[]

const byOwnLine: Finder = (line, lines, at) => {
  const match = ownLine.exec(line)
  const address = match?.[2] ?? match?.[1]
  const rest = match?.groups?.['rest'] ?? ''
  if (address === undefined || isInsideSentence(lines[at - 1], rest) || (isMachine(address) && !rest.startsWith(':'))) return []
  const more = /^\s*[,;]/.test(rest) ? addressesIn(rest) : []
  return [address, ...more]
}

const byReply: Finder = (line) => {
  const address = repliedTo.exec(line)?.[1]
  return address === undefined ? [] : [address]
}

const byLabel: Finder = (line) => {
  if (/^\s*(?:to|from|cc|reply-to)\s*:/i.test(line) || /mail from/i.test(line)) return []
  const address = labelled.exec(line)?.[1]
  return address === undefined ? [] : [address]
}

const bySentence: Finder = (line, lines, at) => {
  if (ofTheReport.test(line) || !failing.test(`${lines[at - 1] ?? ''} ${line} ${lines[at + 1] ?? ''}`)) return []
  return addressesIn(line).filter((address) => !isMachine(address))
}

/** The address belongs to a sentence that was wrapped, such as "please write to" or "…, and" before it. */
function isInsideSentence(before: string | undefined, rest: string): boolean {
  const last = before?.trim() ?? ''
  if (last === '' || last.includes('@')) return false
  return /\b(?:contact|by|from|with|via|(?:mail|write|reply) to)$/i.test(last) || (/[\p{L},]$/u.test(last) && /^[ \t]+\p{Ll}/u.test(rest))
}

/** The line and those after it that go on about the same recipient: up to an empty line or the next recipient. */
function wordsAt(lines: readonly string[], at: number): string[] {
  const words = [lines[at] ?? '']
  for (let next = at + 1; next < lines.length && words.length < wordLinesMax; next++) {
    const line = lines[next] ?? ''
    if (line.trim() === '' || (line.includes('@') && ownLine.test(line))) break
    words.push(line)
  }
  return words
}

/** The codes for one recipient: out of the words about it, then out of lines that name it, then, if it is the only one, of all. */
export function codesFor(
  { address, words }: NamedRecipient,
  lines: readonly string[],
  isOnly: boolean,
): ReplyCodes & { readonly words: string } {
  const near = failureCodes(withoutAddresses(words))
  if (near.smtpCode !== null || near.status !== null) return { ...near, words }
  const naming = lines.filter((line) => line.includes(address)).slice(0, wordLinesMax)
  const elsewhere = failureCodes(withoutAddresses(naming.join('\n')))
  if (elsewhere.smtpCode !== null || elsewhere.status !== null) return { ...elsewhere, words: naming.join('\n') }
  if (!isOnly) return { smtpCode: null, status: null, words }
  const text = lines.slice(0, 500).join('\n')
  return { ...failureCodes(withoutAddresses(text)), words: wordsBesideCode(lines) ?? (plainWords(words) || text.slice(0, wordsMax)) }
}

/** Digits in addresses are no codes. */
const withoutAddresses = (words: string): string => words.slice(0, 16_384).replaceAll(new RegExp(addressSource, 'gu'), 'address')

const plainWords = (words: string): string =>
  words.replaceAll(new RegExp(addressSource, 'gu'), '').replaceAll(/[\s<>:*-]/g, '') === '' ? '' : words

/** The line with the code, and what goes on behind it. */
function wordsBesideCode(lines: readonly string[]): string | undefined {
  const at = lines.findIndex((line) => {
    const { smtpCode, status } = failureCodes(withoutAddresses(line))
    return smtpCode !== null || status !== null
  })
  return at < 0 ? undefined : wordsAt(lines, at).join('\n')
}

/** The host that refused, as prose names it. */
export const hostInWords = (words: string): string | undefined =>
  /\bhost\s+([\w.-]+\s*\[[\da-fA-F:.]+\])/.exec(words)?.[1] ??
  /while talking to\s+([\w.-]+)/i.exec(words)?.[1] ??
  /([\w.-]+\s*\[[\da-fA-F:.]{7,45}\])\s+did not like/.exec(words)?.[1] ??
  /(?:remote host|connected to)\s+([\d.]{7,15}|[\da-fA-F:]{5,45})/i.exec(words)?.[1]

/** The addresses of the report itself: who wrote it and whom it was sent to. */
export const ownAddresses = (fields: readonly HeaderField[]): Set<string> =>
  new Set(
    fields
      .filter(({ name }) => /^(?:to|from|reply-to|return-path|sender|delivered-to)$/i.test(name))
      .flatMap(({ value }) => addressesIn(value))
      .map((address) => address.toLowerCase()),
  )
