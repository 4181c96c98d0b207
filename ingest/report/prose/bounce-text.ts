/**
 * Parses bounces without structured fields: qmail, Exim, Sendmail before 8.8, Exchange before 2007, Notes, old Gmail, gateways of Japanese
 * carriers, …
 */
import { reportsFailure } from './bounce-signs.ts'
import { addressesIn, addressSource, isMachine, withoutAddresses } from '../facts/mail-address.ts'
import { failureCodes, type ReplyCodes } from '../facts/reply-codes.ts'
import { withoutShownFields } from './shown-fields.ts'

/** The text about one recipient. */
export interface NamedRecipient {
  readonly address: string
  /** The address that an alias or forwarding replaced by this address. */
  readonly original: string | undefined
  /** The text about the recipient. */
  readonly about: string
}

const maxNamed = 1000
const maxNaked = 100
const maxText = 4000
const maxTextLines = 30
/** Limit of lines searched for codes. */
const maxSearched = 2000

const bullets = String.raw`^[\s>*•·|#=-]{0,40}(?:\d{1,3}[.)]\s+)?`
/** A line that begins with an address: `<a@b>:`, `a@b`, `* a@b`, `a@b [User unknown]`, `name@b <a@b>: …`. */
const ownLine = new RegExp(`${bullets}["'(]?<?(${addressSource})>?["')]?(?:\\s?<(?:mailto:)?(${addressSource})>)?(?<rest>.*)$`, 'u')
/** A label with an address: `Recipient: <a@b>`, `RCPT TO:<a@b>`, `Failed recipient: a@b`. */
const labelled = new RegExp(
  `(?:\\brcpt to|recipients?(?: address(?:es)?)?|(?:failed|invalid|unknown|bad) (?:address|user|recipient|final delivery userid)|address|mailbox|user(?:id)?|delivered to|delivery failed|[^\\w]to|宛先|送信先|\\bsmtp)\\s{0,4}[:：=]\\s{0,8}["']?<?(?:\\[?smtp[:=])?(${addressSource})>?`,
  'iu',
)
/** A Sendmail reply that names its recipient. */
const repliedTo = new RegExp(`^[\\s<]{0,10}[45]\\d\\d[ -](?:[45]\\.\\d{1,3}\\.\\d{1,3} )?<?(${addressSource})(?:>|\\.{3})`, 'u')
const failing =
  /fail|unable|undeliver|(?:could|can|was|were|did|does|is) ?n[o']t|cannot|error|unknown|invalid|reject|full|quota|bounce|refus|disabled|denied|no such|not an? (?:valid|known|active)|exceed|problem|delay|でき|失敗|ありません|不明|エラー/iu
const ofTheReport =
  /^\s*(?:from|reply-to|cc|bcc|sender|return-path|subject|date|message-id|errors-to|to|x-[\w-]+|mail from|received|list-[\w-]+)\s*:/i
const madeFrom = new RegExp(
  `(?:generated (?:from|by)|expanded from:?|forwarded from|originally addressed to|alias(?:ed)? (?:from|of))\\s+<?(${addressSource})>?`,
  'iu',
)

/**
 * The recipients that a notice names as failed, in order, without duplicates. Lines that begin with an address count first. Replies, then
 * labels, and last the origin of a hidden address count only if the earlier forms find none. `wanted` filters addresses.
 */
export const namedRecipients = (lines: readonly string[], wanted: (address: string) => boolean): NamedRecipient[] =>
  firstFound([byOwnLine, byReply, byLabel, byOrigin], (find) => foundBy(find, lines).filter(({ address }) => wanted(address)))

/** All recipients at the beginning of a line with a colon or failure text after them, without a filter. */
export const plainlyNamed = (lines: readonly string[]): NamedRecipient[] =>
  foundBy(byOwnLine, lines).filter(({ address, about }) => {
    const said = withoutName(about, address)
    return /^[^\n]{0,400}:[ \t]*(?:\n|$)/.test(about) || hasCode(codesIn(said)) || (said !== '' && failing.test(said))
  })

/** Addresses in sentences about a failure, or in a To among the details. For notices without a clearer recipient. */
export const mentionedRecipients = (lines: readonly string[], wanted: (address: string) => boolean): NamedRecipient[] =>
  firstFound([bySentence, byTo], (find) => foundBy(find, lines).filter(({ address }) => wanted(address)))

/** Local parts without a domain, one per line, below a line that reports a failure. They belong to the reporting server's domain (AOL). */
export function nakedNames(lines: readonly string[], domain: string): NamedRecipient[] {
  const start = lines.findIndex((line) => /:\s*$/.test(line) && failing.test(line))
  const names: NamedRecipient[] = []
  for (let at = start + 1; start >= 0 && names.length < maxNaked; at++) {
    const name = /^[ \t]+([\w.+-]{1,64})\s*$/.exec(lines[at] ?? '')?.[1]
    if (name === undefined) break
    names.push({ address: `${name}@${domain}`, original: undefined, about: lines[start] ?? '' })
  }
  return names
}

/** Reports whether an address begins a line directly below text that reports a failure. */
export const isNamedAsFailed = (lines: readonly string[], wanted: (address: string) => boolean): boolean => {
  const filled = lines.filter((line) => line.trim() !== '')
  return filled.some((line, at) => {
    const [, address, shown] = line.includes('@') ? (ownLine.exec(line) ?? []) : []
    return address !== undefined && wanted(shown ?? address) && reportsFailure(filled[at - 1] ?? '')
  })
}

function firstFound(finders: readonly Finder[], look: (find: Finder) => NamedRecipient[]): NamedRecipient[] {
  for (const find of finders) {
    const found = look(find)
    if (found.length > 0) return found
  }
  return []
}

function foundBy(find: Finder, lines: readonly string[]): NamedRecipient[] {
  const found = new Map<string, { address: string; original: string | undefined; about: string[] }>()
  for (const [at, line] of lines.entries()) {
    if (!line.includes('@')) continue
    for (const address of find(line, lines, at)) {
      const key = address.toLowerCase()
      if (found.size === maxNamed && !found.has(key)) break
      const entry = found.get(key) ?? { address, original: undefined, about: [] }
      found.set(key, entry)
      if (entry.about.length > 2 * maxTextLines) continue
      const about = find === byTo ? [] : textAt(lines, at)
      entry.about.push(...about)
      entry.original ??= madeFrom.exec(about.join(' ').slice(0, maxText))?.[1]
    }
  }
  return [...found.values()].map(({ address, original, about }) => ({
    ...{ address, about: about.join('\n').slice(0, maxText) },
    original: original?.toLowerCase() === address.toLowerCase() ? undefined : original,
  }))
}

type Finder = (line: string, lines: readonly string[], at: number) => readonly string[]

const byOwnLine: Finder = (line, lines, at) => {
  const match = ownLine.exec(line)
  const address = match?.[2] ?? match?.[1]
  const rest = match?.groups?.['rest'] ?? ''
  if (address === undefined || isInsideSentence(lines[at - 1], line, rest) || (isMachine(address) && !rest.startsWith(':'))) return []
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

const byOrigin: Finder = (line, lines, at) => {
  const isAbout = failing.test(lines.slice(Math.max(0, at - 2), at + 3).join(' ')) || /address/i.test(lines[at - 1] ?? '')
  const address = isAbout ? madeFrom.exec(line)?.[1] : undefined
  return address === undefined ? [] : [address]
}

const bySentence: Finder = (line, lines, at) => {
  if (ofTheReport.test(line) || !failing.test(`${lines[at - 1] ?? ''} ${line} ${lines[at + 1] ?? ''}`)) return []
  return addressesIn(line).filter((address) => !isMachine(address) && !isSomebodyElse(lines[at - 1], line, address))
}

/** Finds addresses in the To of the returned message, for notices that state nothing else. */
const byTo: Finder = (line) => (/^\s*to\s*:/i.test(line) ? addressesIn(line) : [])

/** The sentence names the address as the sender, as a contact, or as an example. */
const isSomebodyElse = (before: string | undefined, line: string, address: string): boolean =>
  /\b(?:from|by|sender|contact|via|try|if|such as|(?:write|reply|send (?:e-?)?mail) to)[\s:<"']{0,4}$/i.test(
    `${before ?? ''} ${line.slice(0, Math.max(line.indexOf(address), 0))}`.slice(-60),
  )

/** The address belongs to a wrapped sentence, for example after "please write to" or "…, and". */
function isInsideSentence(before: string | undefined, line: string, rest: string): boolean {
  const last = before?.trim() ?? ''
  if (last === '' || last.includes('@')) return false
  if (/\b(?:contact|by|from|with|via|(?:mail|write|reply) to)$/i.test(last)) return true
  // a continuation line is indented at least as far as the previous line
  return indent(line) >= indent(before ?? '') && /[\p{L},]$/u.test(last) && /^[ \t]+\p{Ll}/u.test(rest)
}

const indent = (line: string): number => line.length - line.trimStart().length

/** The line and the following lines about the same recipient, up to an empty line or the next recipient. */
function textAt(lines: readonly string[], at: number): string[] {
  const about = [lines[at] ?? '']
  for (let next = at + 1; next < lines.length && about.length < maxTextLines; next++) {
    const line = lines[next] ?? ''
    if (line.trim() === '' || (line.includes('@') && ownLine.test(line))) break
    about.push(line)
  }
  return about
}

/** A server's text about one recipient, with its codes. */
export interface ReplyText extends ReplyCodes {
  readonly about: string
}

/**
 * Finds the codes for one recipient in the text about it, then in lines that name it. For a single recipient, all lines are searched last.
 * Fields in the text provide codes but are removed from `about`.
 */
export function saidAbout(recipient: Pick<NamedRecipient, 'address' | 'about'>, lines: readonly string[], isOnly: boolean): ReplyText {
  const said = foundAbout(recipient, lines, isOnly)
  const about = withoutShownFields(said.about)
  return { ...said, about: about === '' && isOnly ? withoutShownFields(wholeText(lines)) : about }
}

const wholeText = (lines: readonly string[]): string => lines.slice(0, maxSearched).join('\n').slice(0, maxText)

function foundAbout({ address, about }: Pick<NamedRecipient, 'address' | 'about'>, lines: readonly string[], isOnly: boolean): ReplyText {
  const near = codesIn(about)
  if (hasCode(near)) return { ...near, about: withoutName(about, address) }
  const naming = address === '' ? [] : lines.slice(0, maxSearched).filter((line) => line.includes(address))
  const elsewhere = naming.slice(0, maxTextLines).join('\n')
  const there = codesIn(elsewhere)
  if (hasCode(there)) return { ...there, about: elsewhere }
  const own = withoutName(about, address)
  if (!isOnly) return { ...near, about: own }
  const at = lines.slice(0, maxSearched).findIndex((line) => hasCode(codesIn(line)))
  if (at >= 0) {
    const beside = textAt(lines, at).join('\n')
    return { ...codesIn(beside), about: beside }
  }
  const isExplained = own !== '' && own !== about
  return { ...near, about: isExplained ? own : wholeText(lines) }
}

const codesIn = (about: string): ReplyCodes => failureCodes(withoutAddresses(about.slice(0, 2 * maxText)))
const hasCode = ({ smtpCode, status }: ReplyCodes): boolean => smtpCode !== null || status !== null

/** Removes the recipient's name at the beginning, such as `<a@b>:`. */
function withoutName(about: string, address: string): string {
  const match = ownLine.exec(about.split('\n', 1)[0] ?? '')
  if (match === null || address === '' || !match[0].includes(address)) return about
  const rest = (match.groups?.['rest'] ?? '').replace(/^[\s:;,.*<>-]+/, '')
  return [rest, ...about.split('\n').slice(1)].join('\n').trim()
}
