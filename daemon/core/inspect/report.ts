/** The report on one mail: what was found, what it is worth, and what each large receiver asks for. Spec "Inspect". */

/** `na`: it does not apply, or could not be found out; it does not count then. */
export type CheckStatus = 'pass' | 'warn' | 'fail' | 'na'

/** A sentence by its code, for whoever words it in another language. Its values may be untrusted text. */
export interface Said {
  readonly code: string
  readonly values: Readonly<Record<string, string>>
}

/** One thing that a check looked at. */
export interface Evidence {
  readonly label: string
  readonly value: string
  /** Absent where it is no word of a language, and in reports from before codes were kept. */
  readonly labelSaid?: Said
  /** As that of the label. */
  readonly valueSaid?: Said
}

/** A text to read on. */
export interface Reference {
  readonly title: string
  readonly url: string
}

/** What checks are about; those of a group stand together in a report. Keyed by the group, the ids of its checks. */
export const checkGroups = {
  sender: ['spf', 'dkim', 'dmarc', 'dmarc_policy'],
  server: ['fcrdns', 'helo', 'tls', 'ip_blocklist'],
  domains: ['domain_blocklist', 'sender_domain', 'domain_hardening'],
  form: ['headers', 'subject_and_sender', 'mime_structure'],
  content: ['list_unsubscribe', 'html_content', 'links'],
} as const
export type CheckGroup = keyof typeof checkGroups
export const checkGroupNames = Object.keys(checkGroups) as [CheckGroup, ...CheckGroup[]]

/** A check of no known group is about the content. */
export const groupOfCheck = (id: string): CheckGroup =>
  checkGroupNames.find((group) => (checkGroups[group] as readonly string[]).includes(id)) ?? 'content'

export interface CheckResult {
  readonly id: string
  readonly title: string
  readonly status: CheckStatus
  /** Within zero and `max`; zero for `na`. */
  readonly points: number
  readonly max: number
  /** What was found, in one or a few sentences. */
  readonly summary: string
  readonly evidence: readonly Evidence[]
  /** What to do about it; null when there is nothing to do. */
  readonly fix: string | null
  /** The sentences of `summary`; absent in reports from before codes were kept, as is the next. */
  readonly summarySaid?: readonly Said[]
  /** The sentences of `fix`. */
  readonly fixSaid?: readonly Said[]
  readonly references: readonly Reference[]
}

/** A fault so grave that the score cannot be above `limit`, whatever the checks add up to. */
export interface Cap {
  readonly id: string
  readonly limit: number
  readonly reason: string
}

export type Provider = 'gmail' | 'yahoo' | 'outlook' | 'icloud'

/** `unknown`: one mail cannot show it, or DNS did not answer. `not_applicable`: the rule is not for mail of this sort. */
export type RuleStatus = 'met' | 'missed' | 'unknown' | 'not_applicable'

/** What one receiver makes of a rule. */
export interface ProviderRule {
  readonly provider: Provider
  readonly need: 'must' | 'advised'
  readonly status: RuleStatus
  /** How the receiver refuses mail that misses the rule; null when that is not known. */
  readonly refusal: string | null
}

/** A rule of large receivers. */
export interface Requirement {
  readonly id: string
  readonly rule: string
  /** `bulk`: for senders of more than 5,000 messages a day. */
  readonly senders: 'all' | 'bulk'
  /** The checks that count. */
  readonly checks: readonly string[]
  readonly providers: readonly ProviderRule[]
}

export type Grade = 'A' | 'B' | 'C' | 'D' | 'F'

export interface InspectReport {
  /** 0 to 100. */
  readonly score: number
  readonly grade: Grade
  /** Those that hold the score down. */
  readonly caps: readonly Cap[]
  /** All 17, in the order of the rubric. */
  readonly checks: readonly CheckResult[]
  readonly requirements: readonly Requirement[]
  /** Checks that could not be made because DNS did not answer; absent in reports from before this was noted. */
  readonly unanswered?: readonly string[]
  /** What the mail says of itself, for whoever reads the report. */
  readonly mail: MailOverview
}

/** Header fields for display; empty where the mail has none. */
export interface MailOverview {
  readonly from: string
  readonly subject: string
}

/** What the listener knows of the session in which a mail came. */
export interface InspectSession {
  readonly clientIp: string
  /** As given with EHLO or HELO. */
  readonly helo: string
  /** Empty for the null sender. */
  readonly mailFrom: string
  readonly rcptTo: string
  /** Null for plain text. */
  readonly tls: { readonly protocol: string; readonly cipher: string } | null
  /** Whether the listener offered STARTTLS. */
  readonly tlsOffered: boolean
  /** The name by which the listener greets. */
  readonly serverName: string
  readonly smtpUtf8: boolean
  /** Where the first bare CR or LF stood, which the listener has turned into CRLF; left out when there was none. */
  readonly bareLineEnd?: 'header' | 'body' | undefined
  /** Milliseconds since the epoch. */
  readonly receivedAt: number
}

/** Scores a mail. It never throws: a mail that could not be read is a `problem`, in a sentence for people; `error` is for the operator. */
export interface InspectScorer {
  score(raw: Uint8Array, session: InspectSession): Promise<InspectScore>
}

export type InspectScore =
  { readonly ok: true; readonly report: InspectReport } | { readonly ok: false; readonly problem: string; readonly error?: unknown }
