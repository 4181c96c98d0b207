/** The 17 checks with their weights, and the conversion of a verdict to a result. */
import { catalogIn } from '#config/catalogs/catalog-in.ts'
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

/** One or more sentences. */
export type Sentences = Said | readonly Said[]

/** Evidence of a check: a label and the observed value, as sentences or verbatim. */
export interface Looked {
  readonly label: string | Said
  readonly value: string | Said
}

/** The outcome of a check. Points are omitted for `na`, and for `pass` with full points. */
export interface Verdict {
  readonly status: CheckStatus
  readonly points?: number
  readonly summary: Sentences
  readonly evidence?: readonly Looked[]
  readonly fix?: Sentences
  /** DNS did not answer a decisive query. */
  readonly isUnanswered?: boolean
}

const rfc = (number: number, what: string): Reference => ({
  title: `RFC ${number}: ${what}`,
  url: `https://www.rfc-editor.org/rfc/rfc${number}`,
})
const gmail: Reference = { title: 'Gmail: guidelines for senders', url: 'https://support.google.com/mail/answer/81126' }
const yahoo: Reference = { title: 'Yahoo: sender requirements', url: 'https://senders.yahooinc.com/best-practices/' }

interface Definition {
  readonly max: number
  readonly references: readonly Reference[]
}

const definitions: Readonly<Record<CheckId, Definition>> = {
  spf: { max: 8, references: [rfc(7208, 'Sender Policy Framework'), gmail] },
  dkim: { max: 10, references: [rfc(6376, 'DKIM signatures'), rfc(8301, 'DKIM key sizes'), gmail] },
  dmarc: { max: 12, references: [rfc(9989, 'DMARC'), gmail] },
  dmarc_policy: { max: 4, references: [rfc(9989, 'DMARC'), rfc(9990, 'DMARC aggregate reports')] },
  fcrdns: { max: 8, references: [rfc(1912, 'Common DNS errors'), gmail] },
  helo: { max: 3, references: [rfc(5321, 'SMTP')] },
  tls: { max: 5, references: [rfc(3207, 'SMTP over TLS'), rfc(8996, 'TLS 1.0 and 1.1 are deprecated')] },
  ip_blocklist: { max: 8, references: [rfc(5782, 'DNS block lists')] },
  domain_blocklist: { max: 5, references: [rfc(5782, 'DNS block lists')] },
  sender_domain: { max: 4, references: [rfc(5321, 'SMTP'), rfc(7505, 'Null MX'), yahoo] },
  domain_hardening: { max: 2, references: [rfc(8461, 'MTA-STS'), rfc(8460, 'TLS reports'), rfc(7672, 'DANE')] },
  headers: { max: 8, references: [rfc(5322, 'Internet message format'), gmail] },
  subject_and_sender: { max: 4, references: [gmail, rfc(5322, 'Internet message format')] },
  mime_structure: { max: 6, references: [rfc(2045, 'MIME'), rfc(2046, 'MIME media types')] },
  list_unsubscribe: {
    max: 6,
    references: [rfc(8058, 'One-click unsubscribe'), rfc(2369, 'List header fields'), gmail],
  },
  html_content: { max: 3, references: [gmail] },
  links: { max: 4, references: [gmail, yahoo] },
}

export const checkIds = Object.keys(definitions) as readonly CheckId[]

const maxValue = 500
const maxEvidence = 40

/** Converts a verdict to a result with the check's name and limits. Values are untrusted text and are cut to a readable length. */
export function resultOf(id: CheckId, { status, points, summary, evidence = [], fix }: Verdict): CheckResult {
  const { max, references } = definitions[id]
  const title = catalogIn('checks', 'en').checks[id]
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

/** Removes duplicate sentences. */
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

/** Converts untrusted text to one line without invisible characters, cut to a readable length. */
export function readable(text: string, max = maxValue): string {
  const plain = text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .toWellFormed()
  return plain.length > max ? `${plain.slice(0, max - 1).toWellFormed()}…` : plain
}

/** A fault and its remedy. */
export interface Finding {
  readonly text: Said
  readonly fix: Said
}

/** Subtracts `each` points for every finding, down to `least`. Without findings, the check passes. */
export function lessForEach(id: CheckId, findings: readonly Finding[], each: number, least: number, good: Said): Verdict {
  if (findings.length === 0) return { status: 'pass', summary: good }
  return { status: 'warn', points: Math.max(least, definitions[id].max - each * findings.length), ...summaryOf(findings) }
}

/** A failure with zero points. */
export const failedFor = (findings: readonly Finding[]): Verdict => ({ status: 'fail', points: 0, ...summaryOf(findings) })

export const summaryOf = (findings: readonly Finding[]): Pick<Verdict, 'summary' | 'fix'> => ({
  summary: findings.map((finding) => finding.text),
  fix: findings.map(({ fix }) => fix),
})

/** The outcome is unknown because DNS did not answer. */
export const unanswered = (silence: Said, evidence: readonly Looked[] = []): Verdict => ({
  status: 'na',
  isUnanswered: true,
  summary: [silence, say('not_counted')],
  evidence,
})
