/** The 17 checks by name and weight, and how a verdict becomes a result. */
import type { CheckResult, CheckStatus, Evidence, Reference, Said } from '#core/inspect/report.ts'
import { inEnglish, say } from '../sentences/say.ts'

export type CheckId =
  | 'spf'
  | 'dkim'
  | 'dmarc'
  | 'dmarc_policy'
  | 'fcrdns'
  | 'helo'
  | 'tls'
  | 'ip_blocklist'
  | 'domain_blocklist'
  | 'sender_domain'
  | 'domain_hardening'
  | 'headers'
  | 'subject_and_sender'
  | 'mime_structure'
  | 'list_unsubscribe'
  | 'html_content'
  | 'links'

/** One sentence or several. */
export type Sentences = Said | readonly Said[]

/** What a check looked at: its name and what was there, in words of the service or verbatim. */
export interface Looked {
  readonly label: string | Said
  readonly value: string | Said
}

/** What a check found. Points are left out for `na`, and for `pass` when all are given. */
export interface Verdict {
  readonly status: CheckStatus
  readonly points?: number
  readonly summary: Sentences
  readonly evidence?: readonly Looked[]
  readonly fix?: Sentences
  /** DNS did not answer what decides this. */
  readonly isUnanswered?: boolean
}

const rfc = (number: number, what: string): Reference => ({
  title: `RFC ${number}: ${what}`,
  url: `https://www.rfc-editor.org/rfc/rfc${number}`,
})
const gmail: Reference = { title: 'Gmail: guidelines for senders', url: 'https://support.google.com/mail/answer/81126' }
const yahoo: Reference = { title: 'Yahoo: sender requirements', url: 'https://senders.yahooinc.com/best-practices/' }

interface Definition {
  readonly title: string
  readonly max: number
  readonly references: readonly Reference[]
}

const definitions: Readonly<Record<CheckId, Definition>> = {
  spf: { title: 'SPF', max: 8, references: [rfc(7208, 'Sender Policy Framework'), gmail] },
  dkim: { title: 'DKIM signature', max: 10, references: [rfc(6376, 'DKIM signatures'), rfc(8301, 'DKIM key sizes'), gmail] },
  dmarc: { title: 'DMARC alignment', max: 12, references: [rfc(9989, 'DMARC'), gmail] },
  dmarc_policy: { title: 'DMARC policy', max: 4, references: [rfc(9989, 'DMARC'), rfc(9990, 'DMARC aggregate reports')] },
  fcrdns: { title: 'Reverse DNS', max: 8, references: [rfc(1912, 'Common DNS errors'), gmail] },
  helo: { title: 'Greeting name', max: 3, references: [rfc(5321, 'SMTP')] },
  tls: { title: 'Encrypted transport', max: 5, references: [rfc(3207, 'SMTP over TLS'), rfc(8996, 'TLS 1.0 and 1.1 are deprecated')] },
  ip_blocklist: { title: 'Address block lists', max: 8, references: [rfc(5782, 'DNS block lists')] },
  domain_blocklist: { title: 'Domain block lists', max: 5, references: [rfc(5782, 'DNS block lists')] },
  sender_domain: { title: 'Sender domains take mail', max: 4, references: [rfc(5321, 'SMTP'), rfc(7505, 'Null MX'), yahoo] },
  domain_hardening: { title: 'Domain hardening', max: 2, references: [rfc(8461, 'MTA-STS'), rfc(8460, 'TLS reports'), rfc(7672, 'DANE')] },
  headers: { title: 'Header fields', max: 8, references: [rfc(5322, 'Internet message format'), gmail] },
  subject_and_sender: { title: 'Subject and sender', max: 4, references: [gmail, rfc(5322, 'Internet message format')] },
  mime_structure: { title: 'MIME structure', max: 6, references: [rfc(2045, 'MIME'), rfc(2046, 'MIME media types')] },
  list_unsubscribe: {
    title: 'One-click unsubscribe',
    max: 6,
    references: [rfc(8058, 'One-click unsubscribe'), rfc(2369, 'List header fields'), gmail],
  },
  html_content: { title: 'HTML content', max: 3, references: [gmail] },
  links: { title: 'Links', max: 4, references: [gmail, yahoo] },
}

export const checkIds = Object.keys(definitions) as readonly CheckId[]

const maxValue = 500
const maxEvidence = 40

/** The verdict with the check's name and bounds. Values are untrusted text: they are cut to a readable size. */
export function resultOf(id: CheckId, { status, points, summary, evidence = [], fix }: Verdict): CheckResult {
  const { title, max, references } = definitions[id]
  const given = status === 'na' ? 0 : (points ?? (status === 'pass' ? max : 0))
  const [found, advice] = [readableSentences(summary), readableSentences(fix ?? [])]
  return {
    ...{ id, title, status, points: Math.max(0, Math.min(max, given)), max, summary: readable(text(found), 2000) },
    evidence: evidence.slice(0, maxEvidence).map(evidenceOf),
    fix: advice.length === 0 ? null : readable(text(advice), 4000),
    ...{ references, summarySaid: found, fixSaid: advice },
  }
}

const text = (sentences: readonly Said[]): string => sentences.map(inEnglish).join(' ')

/** Nothing is said twice. */
const readableSentences = (sentences: Sentences): Said[] => [
  ...new Map([sentences].flat().map((one) => [inEnglish(one), readableSaid(one)])).values(),
]

const readableSaid = ({ code, values }: Said): Said => ({
  code,
  values: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, readable(value)])),
})

function evidenceOf({ label, value }: Looked): Evidence {
  return {
    label: readable(typeof label === 'string' ? label : inEnglish(label)),
    value: readable(typeof value === 'string' ? value : inEnglish(value)),
    ...(typeof label !== 'string' && { labelSaid: readableSaid(label) }),
    ...(typeof value !== 'string' && { valueSaid: readableSaid(value) }),
  }
}

/** Untrusted text in one line, without characters that cannot be seen, cut to a readable size. */
export function readable(text: string, max = maxValue): string {
  const plain = text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .toWellFormed()
  return plain.length > max ? `${plain.slice(0, max - 1).toWellFormed()}…` : plain
}

/** Something that is wrong, and how to mend it. */
export interface Finding {
  readonly text: Said
  readonly fix: Said
}

/** `each` points less for every finding, but at least `least`; all of them without one. */
export function lessForEach(id: CheckId, findings: readonly Finding[], each: number, least: number, good: Said): Verdict {
  if (findings.length === 0) return { status: 'pass', summary: good }
  return { status: 'warn', points: Math.max(least, definitions[id].max - each * findings.length), ...summaryOf(findings) }
}

/** No point at all. */
export const failedFor = (findings: readonly Finding[]): Verdict => ({ status: 'fail', points: 0, ...summaryOf(findings) })

export const summaryOf = (findings: readonly Finding[]): Pick<Verdict, 'summary' | 'fix'> => ({
  summary: findings.map((finding) => finding.text),
  fix: findings.map(({ fix }) => fix),
})

/** DNS did not answer, so that the outcome is unknown. */
export const unanswered = (silence: Said, evidence: readonly Looked[] = []): Verdict => ({
  status: 'na',
  isUnanswered: true,
  summary: [silence, say('not_counted')],
  evidence,
})
