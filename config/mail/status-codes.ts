/** Meanings of refusals in plain words: enhanced status codes (RFC 3463), reply codes (RFC 5321), and texts of providers. */
import data from './status-codes.json' with { type: 'json' }

/** Subjects of refusals. */
export const refusalCategories = [
  ...['recipient_unknown', 'recipient_syntax', 'recipient_moved', 'recipient', 'mailbox_disabled', 'mailbox_full', 'mailbox', 'domain'],
  ...['sender', 'authentication', 'auth_client', 'tls', 'routing', 'protocol', 'rate', 'reputation', 'content', 'size', 'policy'],
  ...['greylisting', 'system', 'network', 'expired', 'success', 'undetermined'],
] as const
export type RefusalCategory = (typeof refusalCategories)[number]

const bounceKinds = ['hard', 'soft', 'block'] as const

export interface RefusalMeaning {
  readonly category: RefusalCategory
  /**
   * `hard`: the address is bad. `soft`: a later attempt may succeed. `block`: the address is fine, but the sender or the message was
   * refused.
   */
  readonly bounce: (typeof bounceKinds)[number]
  /** One sentence. */
  readonly reason: string
  /** Next step, in one or two sentences. */
  readonly action: string
}

export interface EnhancedCode {
  /** Name in the registry. */
  readonly name: string
  /** Defining document; null if the code is only registered. */
  readonly rfc: string | null
  readonly permanent: RefusalMeaning
  readonly transient: RefusalMeaning | undefined
}

export interface MailProvider {
  readonly id: string
  readonly name: string
  /** Host names of its servers. */
  readonly servers: RegExp
  /** Domains of its mailboxes. */
  readonly domains: RegExp
  /** Text that only replies of this provider contain. */
  readonly sign: RegExp | undefined
}

export interface RefusalRule {
  /** Undefined for rules of all providers. */
  readonly provider: MailProvider | undefined
  /** First digits of the codes that the rule applies to, such as `45`. */
  readonly classes: string
  /** Matches the whole enhanced code without its first digit, such as `7.26`. */
  readonly status: RegExp | undefined
  /** Matches the reply as one line that starts with its code. */
  readonly text: RegExp | undefined
  /** The rule takes precedence over enhanced codes. */
  readonly isOverride: boolean
  readonly meaning: RefusalMeaning
}

type MeaningData = Readonly<Record<'bounce' | 'reason' | 'action', string>>

const codes: ReadonlyMap<string, EnhancedCode> = new Map(data.codes.map((code) => [code.code, readCode(code)]))
const replies: ReadonlyMap<number, RefusalMeaning> = new Map(data.replies.map((reply) => [reply.code, meaningOf(reply, reply.category)]))

export const mailProviders: readonly MailProvider[] = data.providers.map(({ id, name, servers, domains, ...rest }) => ({
  ...{ id, name, servers: new RegExp(servers, 'i'), domains: new RegExp(domains, 'i') },
  sign: 'sign' in rest ? new RegExp(rest.sign, 'i') : undefined,
}))

/** Rules in the order of evaluation. */
export const refusalRules: readonly RefusalRule[] = data.rules.map((rule) => ({
  provider: rule.provider === null ? undefined : providerOf(rule.provider),
  classes: rule.class,
  status: 'status' in rule && rule.status !== undefined ? new RegExp(`^(${rule.status})$`) : undefined,
  text: 'match' in rule && rule.match !== undefined ? new RegExp(rule.match, 'i') : undefined,
  isOverride: 'override' in rule,
  meaning: meaningOf(rule, rule.category),
}))

/** Finds a code by subject and detail, such as `7.26`; undefined if it is not registered. */
export const findEnhancedCode = (subjectAndDetail: string): EnhancedCode | undefined => codes.get(subjectAndDetail)

/** Returns the meaning of a reply code without further information; undefined for codes without a meaning. */
export const findReplyMeaning = (code: number): RefusalMeaning | undefined => replies.get(code)

function readCode({ name, rfc, category, permanent, ...rest }: (typeof data.codes)[number]): EnhancedCode {
  const transient = 'transient' in rest && rest.transient !== undefined ? meaningOf(rest.transient, category) : undefined
  return { name, rfc, permanent: meaningOf(permanent, category), transient }
}

function meaningOf({ bounce, reason, action }: MeaningData, categoryName: string): RefusalMeaning {
  const category = refusalCategories.find((known) => known === categoryName)
  const kind = bounceKinds.find((known) => known === bounce)
  if (!category || !kind) throw new TypeError(`Unknown in status-codes.json: ${categoryName}, ${bounce}`)
  return { category, bounce: kind, reason, action }
}

function providerOf(id: string): MailProvider {
  const provider = mailProviders.find((one) => one.id === id)
  if (!provider) throw new TypeError(`status-codes.json has no provider ${id}`)
  return provider
}
