/** Checks 10 and 11: whether the sender's domains can receive replies, and how well mail to them is protected. */
import type { Said } from '#core/inspect/report.ts'
import { organizationOf, domainOf } from '../../dns/domains.ts'
import type { Facts } from '../facts/mail-facts.ts'
import { isMailboxProvider, isOwnDomain } from '../facts/ownership.ts'
import { addressList } from '../../mime/address-list.ts'
import { valueOf } from '../facts/parsed-mail.ts'
import type { InspectInput } from '../facts/score-input.ts'
import { policyMode, type PolicyMode } from '../../dns/mta-sts.ts'
import type { Questions } from '../../dns/questions.ts'
import { failedFor, unanswered, type Finding, type Looked, type Verdict } from './verdict.ts'
import { say, term } from '../sentences/say.ts'

const maxHosts = 5

interface Lack {
  readonly why: Said
  readonly fix: Said
}

type Reach =
  | { readonly kind: 'mx'; readonly hosts: readonly string[] }
  /** The domain receives mail, but its DNS records are not correct. */
  | ({ readonly kind: 'odd' } & Lack)
  | ({ readonly kind: 'none' } & Lack)
  /** The domain exists but has no record for mail delivery. */
  | ({ readonly kind: 'absent' } & Lack)
  | { readonly kind: 'fault' }

/** Determines how mail reaches a domain. */
async function reachOf(questions: Questions, domain: string): Promise<Reach> {
  const answer = await questions.exchanges(domain)
  if (answer.kind === 'fault') return { kind: 'fault' }
  if (answer.kind === 'records') {
    const hosts = answer.records.toSorted((a, b) => a.priority - b.priority).map(({ exchange }) => exchange.replace(/\.$/, ''))
    if (hosts.every((host) => host === '')) return { kind: 'none', why: say('mx_null', { domain }), fix: say('fix_mx_null', { domain }) }
    return reachOfHosts(questions, domain, hosts.filter((host) => host !== '').slice(0, maxHosts))
  }
  const fix = say('fix_mx', { domain })
  const found = await hasAddress(questions, domain)
  if (found === 'fault') return { kind: 'fault' }
  if (found === 'yes') return { kind: 'odd', why: say('mx_missing', { domain }), fix }
  if (answer.exists) return { kind: 'absent', why: say('mx_nothing', { domain }), fix }
  return { kind: 'none', why: say('mx_no_domain', { domain }), fix: say('fix_mx_no_domain', { domain }) }
}

async function reachOfHosts(questions: Questions, domain: string, hosts: readonly string[]): Promise<Reach> {
  const found = await Promise.all(hosts.map((host) => hasAddress(questions, host)))
  if (!found.includes('yes')) {
    const values = { domain, hosts: hosts.join(', ') }
    return found.includes('fault')
      ? { kind: 'fault' }
      : { kind: 'none', why: say('mx_unresolved', values), fix: say('fix_mx_hosts', values) }
  }
  const aliases = await Promise.all(hosts.map((host) => questions.names(host, 'CNAME')))
  const alias = hosts.find((_, at) => aliases[at]?.kind === 'records')
  if (alias === undefined) return { kind: 'mx', hosts }
  return { kind: 'odd', why: say('mx_alias', { host: alias, domain }), fix: say('fix_mx_alias', { host: alias }) }
}

async function hasAddress(questions: Questions, host: string): Promise<'yes' | 'no' | 'fault'> {
  const answers = await Promise.all([questions.addresses(host, 4), questions.addresses(host, 6)])
  if (answers.some(({ kind }) => kind === 'records')) return 'yes'
  return answers.some(({ kind }) => kind === 'fault') ? 'fault' : 'no'
}

/** Check 10. */
export async function checkSenderDomain(facts: Facts): Promise<Verdict> {
  const { input, questions, mail, mailFromDomain } = facts
  const from = mail.fromDomain
  const domains = [...new Set([from, ...(input.session.mailFrom === '' ? [] : [mailFromDomain])])]
  if (from === '') return failedFor([{ text: say('sender_no_domain'), fix: say('fix_one_from') }])
  const reaches = await Promise.all(domains.map((domain) => reachOf(questions, domain)))
  const authority = await questions.any(organizationOf(from), 'SOA')
  const evidence = [
    ...domains.map((domain, at) => ({ label: domain, value: describe(reaches[at]) })),
    {
      label: term('authority', { domain: organizationOf(from) }),
      value: term(authority.kind === 'records' ? 'found' : authority.kind === 'none' ? 'none' : 'no_answer'),
    },
  ]
  const reply = domainOf(addressList(valueOf(mail.fields, 'reply-to') ?? '')[0]?.address ?? '')
  // replies may use another domain, but receivers still refuse a From domain that does not exist or has a null MX
  const elsewhere = reply !== '' && reply !== from && reaches[0]?.kind === 'absent' ? await reachOf(questions, reply) : undefined
  const findings: Finding[] = []
  let isFailure = false
  for (const [at, reach] of reaches.entries()) {
    const domain = domains[at] ?? ''
    if (reach.kind === 'mx' || reach.kind === 'fault') continue
    const isOwn = domain === from || isOwnDomain(domain, facts)
    findings.push({ text: reach.why, fix: isOwn ? reach.fix : say('fix_foreign_domain', { domain }) })
    const isElsewhere = domain === from && (elsewhere?.kind === 'mx' || elsewhere?.kind === 'fault')
    isFailure ||= reach.kind === 'none' || (reach.kind === 'absent' && !isElsewhere)
  }
  if (isFailure) return { ...failedFor(findings), evidence }
  if ([...reaches, elsewhere].some((reach) => reach?.kind === 'fault'))
    return unanswered(say('silent_mail', { domains: domains.join(', ') }), evidence)
  if (findings.length === 0) return { status: 'pass', summary: say('sender_pass', { domains: domains.join(', ') }), evidence }
  return { ...failedFor(findings), status: 'warn', points: 2, evidence }
}

function describe(reach: Reach | undefined): string | Said {
  if (reach?.kind === 'mx') return `MX ${reach.hosts.join(', ')}`
  return reach === undefined || reach.kind === 'fault' ? term('no_answer') : reach.why
}

/** Check 11. */
export async function checkHardening({ input, questions, mail }: Facts): Promise<Verdict> {
  const domain = mail.fromDomain
  if (domain === '') return failedFor([{ text: say('hardening_no_domain'), fix: say('fix_one_from') }])
  if (isMailboxProvider(domain)) return { status: 'na', summary: say('provider_domain', { domain }) }
  const [sts, reports, logo, dane] = await Promise.all([
    starting(questions, `_mta-sts.${domain}`, 'v=STSv1'),
    starting(questions, `_smtp._tls.${domain}`, 'v=TLSRPTv1'),
    starting(questions, `default._bimi.${domain}`, 'v=BIMI1'),
    daneOf(questions, domain),
  ])
  const mode = sts === 'yes' && dane !== 'yes' ? await modeOf(input.fetchPolicy, domain) : 'unknown'
  const evidence: Looked[] = [
    { label: 'MTA-STS', value: sts !== 'yes' ? term(sts) : mode === 'unknown' ? term('sts_unread') : term('sts_mode', { mode }) },
    { label: term('dane'), value: term(dane) },
    { label: term('tls_reports'), value: term(reports) },
    { label: term('logo'), value: term(logo) },
  ]
  const isProtected = dane === 'yes' || mode === 'enforce'
  if (isProtected && reports === 'yes') return { status: 'pass', summary: say('hardening_pass', { domain }), evidence }
  const unclear = [sts, dane, reports].includes('no_answer') || (sts === 'yes' && mode === 'unknown' && dane !== 'yes')
  if (unclear && sts === 'yes' && !input.fetchPolicy)
    return {
      status: 'na',
      summary: say('hardening_no_policies', { domain }),
      evidence,
    }
  if (unclear)
    return {
      status: 'na',
      isUnanswered: true,
      summary: say('hardening_unclear', { domain }),
      evidence,
    }
  const fix: readonly Said[] = [
    ...(isProtected ? [] : [mode === 'testing' ? say('fix_hardening_enforce', { domain }) : say('fix_hardening', { domain })]),
    ...(reports === 'yes' ? [] : [say('fix_hardening_reports', { domain, record: `v=TLSRPTv1; rua=mailto:tls@${domain}` })]),
  ]
  if (isProtected || reports === 'yes' || mode === 'testing')
    return { status: 'warn', points: 1, summary: say('hardening_part', { domain }), evidence, fix }
  return {
    status: 'fail',
    summary: say('hardening_none', { domain }),
    evidence,
    fix,
  }
}

type Presence = 'yes' | 'no' | 'no_answer'

async function starting(questions: Questions, name: string, version: string): Promise<Presence> {
  const answer = await questions.texts(name)
  if (answer.kind === 'fault') return 'no_answer'
  return answer.kind === 'records' && answer.records.some((text) => text.trim().toLowerCase().startsWith(version.toLowerCase()))
    ? 'yes'
    : 'no'
}

async function daneOf(questions: Questions, domain: string): Promise<Presence> {
  const exchanges = await questions.exchanges(domain)
  if (exchanges.kind === 'fault') return 'no_answer'
  const [first] = exchanges.kind === 'records' ? exchanges.records.toSorted((a, b) => a.priority - b.priority) : []
  const host = first?.exchange.replace(/\.$/, '') ?? ''
  if (host === '') return 'no'
  const answer = await questions.any(`_25._tcp.${host}`, 'TLSA')
  return answer.kind === 'records' ? 'yes' : answer.kind === 'none' ? 'no' : 'no_answer'
}

/** Returns `unknown` if fetching the policy is not permitted or failed. */
async function modeOf(fetchPolicy: InspectInput['fetchPolicy'], domain: string): Promise<PolicyMode | 'unknown'> {
  if (!fetchPolicy) return 'unknown'
  try {
    return policyMode(await fetchPolicy(domain))
  } catch {
    return 'unknown'
  }
}
