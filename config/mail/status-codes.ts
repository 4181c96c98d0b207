/** What refusals of mail mean in plain words: enhanced status codes (RFC 3463), reply codes (RFC 5321), and what providers say in texts. */
import data from './status-codes.json' with { type: 'json' }

/** What a refusal is about. */
export const refusalCategories = [
  ...['recipient_unknown', 'recipient_syntax', 'recipient_moved', 'recipient', 'mailbox_disabled', 'mailbox_full', 'mailbox', 'domain'],
  ...['sender', 'authentication', 'auth_client', 'tls', 'routing', 'protocol', 'rate', 'reputation', 'content', 'size', 'policy'],
  ...['greylisting', 'system', 'network', 'expired', 'success', 'undetermined'],
] as const
export type RefusalCategory = (typeof refusalCategories)[number]

const bounceKinds = ['hard', 'soft', 'block'] as const

export interface RefusalMeaning {
  readonly category: RefusalCategory
  /** `hard`: the address is bad. `soft`: it may work later. `block`: the address is fine, the sender or the message was refused. */
  readonly bounce: (typeof bounceKinds)[number]
  /** One sentence. */
  readonly reason: string
  /** What to do, in one or two sentences. */
  readonly action: string
}

export interface EnhancedCode {
  /** As registered. */
  readonly name: string
  /** The document that defines it; null where it is only registered. */
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
  /** What only its replies hold. */
  readonly sign: RegExp | undefined
}

export interface RefusalRule {
  /** Undefined where it holds everywhere. */
  readonly provider: MailProvider | undefined
  /** First digits of the codes it is for, such as `45`. */
  readonly classes: string
  /** Of the enhanced code without its first digit, such as `7.26`, all of it. */
  readonly status: RegExp | undefined
  /** Of the reply on one line, with its code in front. */
  readonly text: RegExp | undefined
  /** It goes before the meaning of any enhanced code. */
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

/** In the order they are to be tried. */
export const refusalRules: readonly RefusalRule[] = data.rules.map((rule) => ({
  provider: rule.provider === null ? undefined : providerOf(rule.provider),
  classes: rule.class,
  status: 'status' in rule && rule.status !== undefined ? new RegExp(`^(${rule.status})$`) : undefined,
  text: 'match' in rule && rule.match !== undefined ? new RegExp(rule.match, 'i') : undefined,
  isOverride: 'override' in rule,
  meaning: meaningOf(rule, rule.category),
}))

/** By subject and detail, such as `7.26`; undefined for what is not registered. */
export const findEnhancedCode = (subjectAndDetail: string): EnhancedCode | undefined => codes.get(subjectAndDetail)

/** What a reply code means where nothing else says it; undefined for codes without a meaning. */
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
