/** The report on one mail: results of checks, their points, and the requirements of large receivers. Spec "Inspect". */

/** `na`: not applicable or undeterminable; not part of the score. */
export type CheckStatus = 'pass' | 'warn' | 'fail' | 'na'

/** A sentence by its code, for translation. Its values may be untrusted text. */
export interface Said {
  readonly code: string
  readonly values: Readonly<Record<string, string>>
}

/** A fact that a check examined. */
export interface Evidence {
  readonly label: string
  readonly value: string
  /** Absent if the label is not a translatable text, and in reports from before codes existed. */
  readonly labelSaid?: Said
  /** Like `labelSaid`, for the value. */
  readonly valueSaid?: Said
}

/** A document for further reading. */
export interface Reference {
  readonly title: string
  readonly url: string
}

/** Groups of checks; checks of a group are adjacent in a report. Maps groups to check ids. */
export const checkGroups = {
  sender: ['spf', 'dkim', 'dmarc', 'dmarc_policy'],
  server: ['fcrdns', 'helo', 'tls', 'ip_blocklist'],
  domains: ['domain_blocklist', 'sender_domain', 'domain_hardening'],
  form: ['headers', 'subject_and_sender', 'mime_structure'],
  content: ['list_unsubscribe', 'html_content', 'links'],
} as const
export type CheckGroup = keyof typeof checkGroups
export const checkGroupNames = Object.keys(checkGroups) as [CheckGroup, ...CheckGroup[]]

/** Returns the group of a check; unknown checks belong to `content`. */
export const groupOfCheck = (id: string): CheckGroup =>
  checkGroupNames.find((group) => (checkGroups[group] as readonly string[]).includes(id)) ?? 'content'

export interface CheckResult {
  readonly id: string
  readonly title: string
  readonly status: CheckStatus
  /** From zero to `max`; zero for `na`. */
  readonly points: number
  readonly max: number
  /** The finding in a few sentences. */
  readonly summary: string
  readonly evidence: readonly Evidence[]
  /** The remedy; null if nothing needs to be done. */
  readonly fix: string | null
  /** Sentences of `summary` by code; absent in reports from before codes existed, like `fixSaid`. */
  readonly summarySaid?: readonly Said[]
  /** Sentences of `fix` by code. */
  readonly fixSaid?: readonly Said[]
  readonly references: readonly Reference[]
}

/** A severe fault that limits the score to `limit`, regardless of the sum of points. */
export interface Cap {
  readonly id: string
  readonly limit: number
  readonly reason: string
}

export type Provider = 'gmail' | 'yahoo' | 'outlook' | 'icloud'

/** `unknown`: one mail cannot show it, or DNS did not answer. `not_applicable`: the rule does not apply to such mail. */
export type RuleStatus = 'met' | 'missed' | 'unknown' | 'not_applicable'

/** A receiver's form of a rule. */
export interface ProviderRule {
  readonly provider: Provider
  readonly need: 'must' | 'advised'
  readonly status: RuleStatus
  /** The receiver's reply to mail that violates the rule; null if unknown. */
  readonly refusal: string | null
}

/** A rule of large receivers. */
export interface Requirement {
  readonly id: string
  readonly rule: string
  /** `bulk`: for senders of more than 5,000 messages a day. */
  readonly senders: 'all' | 'bulk'
  /** Ids of the checks that determine the status. */
  readonly checks: readonly string[]
  readonly providers: readonly ProviderRule[]
}

export type Grade = 'A' | 'B' | 'C' | 'D' | 'F'

export interface InspectReport {
  /** 0 to 100. */
  readonly score: number
  readonly grade: Grade
  /** Caps that limit the score. */
  readonly caps: readonly Cap[]
  /** All 17 checks, in the order of the rubric. */
  readonly checks: readonly CheckResult[]
  readonly requirements: readonly Requirement[]
  /** Ids of checks without a DNS answer; absent in reports from before this field existed. */
  readonly unanswered?: readonly string[]
  /** Header fields of the mail, for readers of the report. */
  readonly mail: MailOverview
}

/** Header fields for display; empty if absent. */
export interface MailOverview {
  readonly from: string
  readonly subject: string
}

/** The SMTP session of a mail. */
export interface InspectSession {
  readonly clientIp: string
  /** Argument of EHLO or HELO. */
  readonly helo: string
  /** Empty for the null sender. */
  readonly mailFrom: string
  readonly rcptTo: string
  /** Null for plain text. */
  readonly tls: { readonly protocol: string; readonly cipher: string } | null
  /** Whether the listener offered STARTTLS. */
  readonly tlsOffered: boolean
  /** The name in the listener's greeting. */
  readonly serverName: string
  readonly smtpUtf8: boolean
  /** Part of the mail with the first bare CR or LF, which the listener converted to CRLF; absent without one. */
  readonly bareLineEnd?: 'header' | 'body' | undefined
  /** Milliseconds since the epoch. */
  readonly receivedAt: number
}

/** Scores mails. It never throws: an unreadable mail has a `problem`, a sentence for people; `error` is for the operator. */
export interface InspectScorer {
  score(raw: Uint8Array, session: InspectSession): Promise<InspectScore>
}

export type InspectScore =
  { readonly ok: true; readonly report: InspectReport } | { readonly ok: false; readonly problem: string; readonly error?: unknown }
