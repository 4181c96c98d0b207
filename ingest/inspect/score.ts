/**
 * Scores one mail: 17 checks, score caps for grave faults, and the rules of large receivers. The result depends only on the input and on
 * DNS.
 */
import { catalogIn } from '#config/catalogs/catalog-in.ts'
import type { ConfigCatalogs } from '#config/catalogs/config-catalogs.ts'
import type { Cap, CheckResult, Grade, InspectReport } from '#core/inspect/report.ts'
import { checkAddressLists, checkDomainLists } from './checks/block-lists.ts'
import { checkHelo, checkReverse, checkTls } from './checks/client.ts'
import { checkDkim } from './checks/dkim.ts'
import { checkDmarc, checkDmarcPolicy } from './checks/dmarc.ts'
import { checkHeaders } from './checks/headers.ts'
import { checkHtmlContent } from './checks/html-content.ts'
import { checkLinks } from './checks/links.ts'
import { checkListUnsubscribe } from './checks/list-unsubscribe.ts'
import { checkMimeStructure, hasDanger } from './checks/mime-structure.ts'
import { checkHardening, checkSenderDomain } from './checks/sender-domain.ts'
import { checkSpf } from './checks/spf.ts'
import { checkSubjectAndSender } from './checks/subject-and-sender.ts'
import { factsOf, isWordless, type Facts } from './facts/mail-facts.ts'
import type { InspectInput } from './facts/score-input.ts'
import { valueOf } from './facts/parsed-mail.ts'
import { requirementsOf } from './requirements.ts'
import { checkIds, readable, resultOf, type CheckId, type Verdict } from './checks/verdict.ts'

const checks: Readonly<Record<CheckId, (facts: Facts) => Verdict | Promise<Verdict>>> = {
  spf: checkSpf,
  dkim: checkDkim,
  dmarc: checkDmarc,
  dmarc_policy: checkDmarcPolicy,
  fcrdns: checkReverse,
  helo: checkHelo,
  tls: checkTls,
  ip_blocklist: checkAddressLists,
  domain_blocklist: checkDomainLists,
  sender_domain: checkSenderDomain,
  domain_hardening: checkHardening,
  headers: checkHeaders,
  subject_and_sender: checkSubjectAndSender,
  mime_structure: checkMimeStructure,
  list_unsubscribe: checkListUnsubscribe,
  html_content: checkHtmlContent,
  links: checkLinks,
}

export async function inspectMail(input: InspectInput): Promise<InspectReport> {
  const facts = await factsOf(input)
  const verdicts = await Promise.all(checkIds.map(async (id) => ({ id, verdict: await checks[id](facts) })))
  const results = verdicts.map(({ id, verdict }) => resultOf(id, verdict))
  const counted = results.filter(({ status }) => status !== 'na')
  const most = sum(counted.map(({ max }) => max))
  const share = most === 0 ? 0 : Math.round((100 * sum(counted.map(({ points }) => points))) / most)
  const caps = capsOf(facts, new Map(results.map((result) => [result.id, result])))
  const score = Math.min(share, ...caps.map(({ limit }) => limit))
  return {
    ...{ score, grade: gradeOf(score), caps, checks: results },
    requirements: requirementsOf(facts, results),
    unanswered: verdicts.filter(({ verdict }) => verdict.isUnanswered).map(({ id }) => id),
    mail: { from: readable(valueOf(facts.mail.fields, 'from') ?? '', 320), subject: readable(facts.mail.subject, 300) },
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

const steps: readonly (readonly [Grade, number])[] = [
  ['A', 90],
  ['B', 80],
  ['C', 65],
  ['D', 50],
]
export const gradeOf = (score: number): Grade => steps.find(([, least]) => score >= least)?.[0] ?? 'F'

function capsOf(facts: Facts, results: ReadonlyMap<string, CheckResult>): Cap[] {
  const { auth, mail } = facts
  const caps: Cap[] = []
  const status = (id: CheckId): string => results.get(id)?.status ?? 'na'
  const isUnproved =
    auth.spf.result !== 'pass' &&
    auth.spf.result !== 'temperror' &&
    auth.dkim.every(({ result }) => result !== 'pass' && result !== 'temperror')
  if (isUnproved) caps.push(cap('unauthenticated', 30))
  if (status('dmarc') === 'fail' && auth.dmarc.record !== '') caps.push(cap('dmarc_fails', 60))
  if (status('ip_blocklist') === 'fail') caps.push(cap('listed', 50))
  if (status('fcrdns') === 'fail' && (results.get('fcrdns')?.evidence ?? []).every(({ label }) => label !== 'PTR'))
    caps.push(cap('no_reverse_dns', 70))
  if (isWordless(facts)) caps.push(cap('no_words', 60))
  if (hasDanger(mail)) caps.push(cap('dangerous_attachment', 50))
  return caps
}

type CapId = keyof ConfigCatalogs['checks']['caps']

const cap = (id: CapId, limit: number): Cap => ({ id, limit, reason: catalogIn('checks', 'en').caps[id] })
