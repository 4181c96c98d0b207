/** The rules of large receivers, and whether the mail meets them. */
import { catalogIn } from '#config/catalogs/catalog-in.ts'
import type { ConfigCatalogs } from '#config/catalogs/config-catalogs.ts'
import type { CheckResult, Provider, ProviderRule, Requirement, RuleStatus } from '#core/inspect/report.ts'
import { weakKey, type Authentication, type DkimFacts } from './facts/authentication.ts'
import type { Facts } from './facts/mail-facts.ts'
import type { CheckId } from './checks/verdict.ts'
import { isUnsubscribeLink } from './facts/web-links.ts'
import { valueOf } from './facts/parsed-mail.ts'

type Need = 'must' | 'advised'
type RuleOutcome = RuleStatus | boolean

interface Rule {
  readonly id: keyof ConfigCatalogs['checks']['ruleNames']
  readonly senders: 'all' | 'bulk'
  readonly checks: readonly CheckId[]
  readonly providers: Readonly<Partial<Record<Provider, readonly [need: Need, status: RuleOutcome, refusal?: string]>>>
}

const outlook = '550 5.7.515'
const keyBitsMin = 1024

export function requirementsOf(facts: Facts, results: readonly CheckResult[]): Requirement[] {
  return rules(facts, new Map(results.map((result) => [result.id, result]))).map(({ providers, ...rule }) => ({
    ...{ ...rule, rule: catalogIn('checks', 'en').ruleNames[rule.id] },
    providers: Object.entries(providers).map(([provider, [need, status, refusal]]): ProviderRule => {
      const outcome: RuleStatus = typeof status === 'string' ? status : status ? 'met' : 'missed'
      return { provider: provider as Provider, need, status: outcome, refusal: refusal ?? null }
    }),
  }))
}

function rules(facts: Facts, results: ReadonlyMap<string, CheckResult>): Rule[] {
  return [...identityRules(facts, results), ...transportRules(results), ...contentRules(facts, results)]
}

function identityRules({ auth }: Facts, results: ReadonlyMap<string, CheckResult>): Rule[] {
  const spf: RuleOutcome = auth.spf.result === 'temperror' ? 'unknown' : auth.spf.result === 'pass'
  const passes = auth.dkim.filter(({ result }) => result === 'pass')
  const dkim: RuleOutcome = passes.length > 0 ? true : auth.dkim.some(({ result }) => result === 'temperror') ? 'unknown' : false
  const dmarcStatus = results.get('dmarc')?.status
  const record: RuleOutcome = auth.dmarc.record !== '' ? true : auth.dmarc.result === 'temperror' ? 'unknown' : false
  const aligned: RuleOutcome = dmarcStatus === 'na' ? 'unknown' : auth.dmarc.record !== '' ? dmarcStatus === 'pass' : dmarcStatus === 'warn'
  const both = and(spf, dkim)
  const passed = and(record, aligned)
  return [
    {
      id: 'spf_or_dkim',
      senders: 'all',
      checks: ['spf', 'dkim'],
      providers: { gmail: ['must', or(spf, dkim), '550 5.7.26'], yahoo: ['must', or(spf, dkim)] },
    },
    {
      ...{ id: 'spf_and_dkim', senders: 'bulk', checks: ['spf', 'dkim'] },
      providers: {
        gmail: ['must', both, gmailCode(auth)],
        yahoo: ['must', both],
        outlook: ['must', both, outlook],
        icloud: ['must', both],
      },
    },
    {
      id: 'dkim_key',
      senders: 'all',
      checks: ['dkim'],
      providers: { gmail: ['must', longKeys(auth.dkim)], yahoo: ['must', longKeys(auth.dkim)] },
    },
    {
      ...{ id: 'dmarc', senders: 'bulk', checks: ['dmarc', 'dmarc_policy'] },
      providers: {
        gmail: ['must', record, '550 5.7.31'],
        yahoo: ['must', passed],
        outlook: ['must', passed, outlook],
        icloud: ['must', record],
      },
    },
    {
      ...{ id: 'alignment', senders: 'bulk', checks: ['dmarc'] },
      providers: { gmail: ['must', aligned, '550 5.7.32'], yahoo: ['must', aligned], outlook: ['must', aligned, outlook] },
    },
  ]
}

/** A single key of sufficient length is enough. The key of an invalid signature may not have been queried. */
function longKeys(signatures: readonly DkimFacts[]): RuleOutcome {
  if (signatures.length === 0) return 'not_applicable'
  if (signatures.some(({ result, keyBits }) => (keyBits === null ? result === 'pass' : keyBits >= keyBitsMin))) return true
  return signatures.every(({ comment }) => comment === weakKey) ? false : 'unknown'
}

/** Gmail's reply code for mail without both an SPF and a DKIM pass. */
function gmailCode({ spf }: Authentication): string {
  if (spf.result === 'permerror') return '550 5.7.24'
  return spf.result === 'pass' || spf.result === 'temperror' ? '550 5.7.30' : '550 5.7.27'
}

function transportRules(results: ReadonlyMap<string, CheckResult>): Rule[] {
  const reverse = results.get('fcrdns')?.status
  const confirmed: RuleOutcome = reverse === 'na' ? 'unknown' : reverse !== 'fail'
  const encryption = results.get('tls')?.status
  const encrypted: RuleOutcome = encryption === 'na' ? 'unknown' : encryption !== 'fail'
  return [
    {
      ...{ id: 'reverse_dns', senders: 'all', checks: ['fcrdns'] },
      providers: {
        gmail: ['must', confirmed, '550 5.7.25'],
        yahoo: ['must', confirmed],
        outlook: ['advised', confirmed],
        icloud: ['must', confirmed],
      },
    },
    {
      id: 'tls',
      senders: 'all',
      checks: ['tls'],
      providers: { gmail: ['must', encrypted, '421 4.7.29'] },
    },
  ]
}

function contentRules({ mail, links, bulk }: Facts, results: ReadonlyMap<string, CheckResult>): Rule[] {
  const isBulk = bulk.length > 0
  const click = results.get('list_unsubscribe')?.status
  const oneClick: RuleOutcome = !isBulk ? 'not_applicable' : click === 'na' ? 'unknown' : click === 'pass'
  const hasAny: RuleOutcome = !isBulk ? 'not_applicable' : /<\s*(?:mailto|https):/i.test(valueOf(mail.fields, 'list-unsubscribe') ?? '')
  const visible: RuleOutcome = isBulk ? links.some(isUnsubscribeLink) : 'not_applicable'
  const format = results.get('headers')?.status !== 'fail'
  return [
    {
      ...{ id: 'one_click', senders: 'bulk', checks: ['list_unsubscribe'] },
      providers: { gmail: ['must', oneClick], yahoo: ['must', hasAny], outlook: ['advised', oneClick] },
    },
    {
      ...{ id: 'visible_unsubscribe', senders: 'bulk', checks: ['links'] },
      providers: { gmail: ['must', visible], yahoo: ['must', visible], outlook: ['advised', visible], icloud: ['must', visible] },
    },
    {
      ...{ id: 'format', senders: 'all', checks: ['headers'] },
      providers: {
        gmail: ['must', format && valueOf(mail.fields, 'message-id') !== undefined],
        yahoo: ['must', format],
        icloud: ['must', format],
      },
    },
    {
      id: 'complaints',
      senders: 'all',
      checks: [],
      providers: { gmail: ['must', 'unknown'], yahoo: ['must', 'unknown'] },
    },
  ]
}

const and = (one: RuleOutcome, other: RuleOutcome): RuleOutcome =>
  one === false || other === false ? false : one === 'unknown' || other === 'unknown' ? 'unknown' : true
const or = (one: RuleOutcome, other: RuleOutcome): RuleOutcome =>
  one === true || other === true ? true : one === 'unknown' || other === 'unknown' ? 'unknown' : false
