/** Classifies refusals: category, bounce class, party at fault and next actions. Pure; RFC 3463, RFC 5321 §4.2. */
import {
  findEnhancedCode,
  findReplyMeaning,
  mailProviders,
  refusalRules,
  type MailProvider,
  type RefusalCategory,
  type RefusalMeaning,
} from '#config/mail/status-codes.ts'
import type { BounceClass, FeedbackEvent } from '../event.ts'
import { enhancedCodesIn, linkIn, mailAddressIn, replyText } from './reply-text.ts'

/**
 * Facts about a refusal; a `FeedbackEvent` has all of them. `remoteMta` is the server that answered. `format` is the report's format. It is
 * absent for a reply to our own attempt, whose `status` is the server's code.
 */
export type RefusalFacts = Pick<FeedbackEvent, 'status' | 'smtpCode' | 'diagnostic' | 'remoteMta' | 'recipient'> & {
  readonly format?: string
}

/** The party that can fix the cause. */
export type Fault = 'address' | 'sender' | 'reputation' | 'content' | 'receiver' | 'unclear'

export interface Classification {
  readonly bounce: BounceClass
  readonly category: RefusalCategory
  readonly fault: Fault
  /** True if the address may be suppressed immediately: for `hard` only. */
  readonly suppress: boolean
  /** One sentence in plain words. */
  readonly reason: string
  readonly nextActions: readonly string[]
  /** Stable name, such as `gmail`, if a well-known provider refused. */
  readonly provider: string | null
  /** URL in the reply, such as a form that lifts a block. The text comes from the remote server. */
  readonly providerLink: string | null
  /** The most specific enhanced code. */
  readonly status: string | null
  /** Meaning of the code in the IANA registry. The provider may use the code differently. */
  readonly registry: { readonly name: string; readonly rfc: string | null } | null
}

const unexplained: RefusalMeaning = {
  category: 'undetermined',
  bounce: 'soft',
  reason: 'The report does not state why the message was refused.',
  action: 'Read the report, or ask the postmaster of the receiving server.',
}

/** Classifies a refusal. Contradictory codes count as temporary, so that no recipient is suppressed by mistake. */
export function classify(facts: RefusalFacts): Classification {
  const text = replyText(facts.diagnostic ?? '', facts.smtpCode)
  const inText = enhancedCodesIn(text)
  const given = enhancedCodesIn(facts.status ?? '').slice(0, 1)
  const status = bestOf([...given, ...inText])
  const seen: Seen = {
    ...{ text, status, kind: kindOf(given[0] ?? status, text), provider: answering(facts, text) },
    details: [...given, ...inText].map(withoutClass),
    isMadeFromReply: facts.format === 'dsn' && inText.length === 0 && /^5\d\d /.test(text),
  }
  const meaning = meaningOf(seen)
  const { bounce, category, reason } = meaning
  const providerLink = linkIn(text)
  return {
    ...{ bounce, category, fault: faults[category], suppress: bounce === 'hard', reason },
    nextActions: [meaning.action, ...furtherActions(meaning, seen, providerLink)],
    provider: seen.provider?.id ?? null,
    providerLink,
    status: status ?? null,
    registry: registryOf(status),
  }
}

interface Seen {
  readonly text: string
  /** The most specific enhanced code. */
  readonly status: string | undefined
  /** All enhanced codes without their first digit. */
  readonly details: readonly string[]
  /** The code comes only from the reporting program; the refusing server's reply has no enhanced code. */
  readonly isMadeFromReply: boolean
  readonly kind: '4' | '5'
  readonly provider: MailProvider | undefined
}

/**
 * Returns the meaning of a refusal. The order was chosen with many labelled refusals: provider texts precede the meanings of codes. Vague
 * codes, and codes only from the reporting program, follow the texts of the refusing server.
 */
function meaningOf(seen: Seen): RefusalMeaning {
  const rules = refusalRules.filter((rule) => rule.classes.includes(seen.kind))
  const ruled = (isTried: (rule: (typeof rules)[number]) => boolean): RefusalMeaning | undefined =>
    rules.find(
      (rule) =>
        isTried(rule) &&
        (!rule.status || seen.details.some((detail) => rule.status?.test(detail))) &&
        (!rule.text || rule.text.test(seen.text)),
    )?.meaning
  const coded = codeMeaning(seen)
  return (
    ruled(({ provider }) => provider !== undefined && provider === seen.provider) ??
    ruled(({ provider, isOverride }) => !provider && isOverride) ??
    (seen.status !== undefined && !isVague(seen.status) && !seen.isMadeFromReply ? coded : undefined) ??
    ruled(({ provider, isOverride }) => !provider && !isOverride) ??
    coded ??
    findReplyMeaning(Number(seen.text.slice(0, 3))) ??
    (seen.kind === '4' ? findEnhancedCode('0.0')?.transient : undefined) ??
    unexplained
  )
}

/** Returns the meaning of the code. If the detail is not registered, returns the general meaning of its subject. */
function codeMeaning({ status, kind }: Seen): RefusalMeaning | undefined {
  if (status === undefined || withoutClass(status) === '0.0') return undefined
  const detail = withoutClass(status)
  for (const known of [findEnhancedCode(detail), findEnhancedCode(`${detail.split('.')[0]}.0`)]) {
    const meaning = kind === '5' ? known?.permanent : known?.transient
    if (meaning) return meaning
  }
  return undefined
}

/** Codes that servers use for any reason. */
const isVague = (status: string): boolean => /^\d\.(\d+\.0|5\.\d+|7\.1)$/.test(status)

const withoutClass = (status: string): string => status.slice(2)

/** Returns the first code that is not vague, or else the first code. A report is often vaguer than the reply it quotes. */
const bestOf = (statuses: readonly string[]): string | undefined => statuses.find((status) => !isVague(status)) ?? statuses[0]

/** Returns `4` if either the code or the reply is temporary. */
const kindOf = (status: string | undefined, text: string): '4' | '5' => (status?.startsWith('4') || /^4\d\d(?: |$)/.test(text) ? '4' : '5')

/** Finds the provider by the answering server. Uses the recipient's domain only if the report has no server name. */
function answering({ remoteMta, recipient }: RefusalFacts, text: string): MailProvider | undefined {
  const server = /[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*/i.exec(remoteMta?.slice(0, 300) ?? '')?.[0]
  const domain = recipient?.slice(recipient.lastIndexOf('@') + 1) ?? ''
  return (
    mailProviders.find(({ servers, domains }) => (server === undefined ? domains.test(domain) : servers.test(server))) ??
    mailProviders.find(({ sign }) => sign?.test(text))
  )
}

function furtherActions({ category }: RefusalMeaning, { text, provider }: Seen, link: string | null): string[] {
  const further: string[] = []
  const isAboutUs = faults[category] !== 'address' && faults[category] !== 'receiver'
  if (isAboutUs && link !== null) further.push(`Open the link in the reply: ${link}`)
  const address = provider?.id === 't-online' && category === 'reputation' ? mailAddressIn(text) : undefined
  if (address !== undefined) further.push(`Write to ${address}, given in the reply.`)
  return further
}

function registryOf(status: string | undefined): Classification['registry'] {
  const known = status === undefined ? undefined : findEnhancedCode(withoutClass(status))
  return known ? { name: known.name, rfc: known.rfc } : null
}

const faults: Readonly<Record<RefusalCategory, Fault>> = {
  recipient_unknown: 'address',
  recipient_syntax: 'address',
  recipient_moved: 'address',
  recipient: 'address',
  mailbox_disabled: 'address',
  domain: 'address',
  mailbox_full: 'receiver',
  mailbox: 'receiver',
  greylisting: 'receiver',
  system: 'receiver',
  network: 'receiver',
  sender: 'sender',
  authentication: 'sender',
  auth_client: 'sender',
  tls: 'sender',
  routing: 'sender',
  protocol: 'sender',
  rate: 'sender',
  reputation: 'reputation',
  content: 'content',
  size: 'content',
  policy: 'unclear',
  expired: 'unclear',
  success: 'unclear',
  undetermined: 'unclear',
}
