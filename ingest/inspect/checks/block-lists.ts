/** Checks 8 and 9: whether DNS lists know the client's address, or a domain of the mail, as a source of unwanted mail. */
import type { Evidence } from '#core/inspect/report.ts'
import { isPublic, plainAddress, reversed } from '../../dns/addresses.ts'
import { organizationOf } from '../../dns/domains.ts'
import type { Facts } from '../facts/mail-facts.ts'
import { silentList } from '../../dns/dns-lists.ts'
import type { DnsList } from '../../dns/resolve.ts'
import type { Questions } from '../../dns/questions.ts'
import type { Verdict } from './verdict.ts'

const maxLinkHosts = 20

interface Lookup {
  readonly list: DnsList
  /** An address or a domain. */
  readonly subject: string
  readonly result: 'listed' | 'clear' | 'silent'
  readonly codes: readonly string[]
}

/** A listing is an answer inside 127.0.0.0/8 that is no error of the list; any other answer is none (RFC 5782 §2.1). */
async function lookUp(questions: Questions, list: DnsList, subject: string, label: string): Promise<Lookup> {
  const answer = await questions.addresses(`${label}.${list.zone}`, 4)
  if (answer.kind === 'fault') return { list, subject, result: 'silent', codes: [] }
  if (answer.kind === 'none') return { list, subject, result: 'clear', codes: [] }
  const { records: codes } = answer
  const isError = codes.some((code) => !code.startsWith('127.') || code.startsWith('127.255.255.') || list.ignore.includes(code))
  return { list, subject, result: isError ? 'silent' : 'listed', codes }
}

/** What every list said; about the lists that were not asked or did not answer, why. */
function evidenceOf(lookups: readonly Lookup[], off: readonly DnsList[]): Evidence[] {
  const zones = [...new Set(lookups.map(({ list }) => list))]
  return [
    ...zones.map((list) => {
      const own = lookups.filter((lookup) => lookup.list === list)
      const listed = own
        .filter(({ result }) => result === 'listed')
        .map(({ subject, codes }) => `${subject} is listed (${codes.join(', ')})`)
      const value = listed.length > 0 ? listed.join('; ') : own.some(({ result }) => result === 'clear') ? 'not listed' : 'no answer'
      return { label: list.zone, value }
    }),
    ...off.map(({ zone, off: reason }) => ({ label: zone, value: `not asked: ${reason ?? ''}` })),
  ]
}

/** Asked, and nothing came; a list that is off for another reason is dead. */
const isSilent = ({ off }: DnsList): boolean => off === undefined || off === silentList

const removal = (zones: readonly string[]): string =>
  `Find out why at ${zones.join(' and ')}, stop the cause (a hacked website, a stolen password, a bought address list), and then ask for removal there.`

const zonesOf = (lookups: readonly Lookup[]): string[] => [...new Set(lookups.map(({ list }) => list.zone))]

/** Check 8. */
export async function checkAddressLists({ input, questions }: Facts): Promise<Verdict> {
  const ip = plainAddress(input.session.clientIp)
  if (ip === undefined || !isPublic(ip)) return { status: 'na', summary: 'The mail came from a private address, which is on no list.' }
  const lists = (await input.lists).filter(({ kind }) => kind === 'ip')
  const asked = lists.filter(({ off }) => off === undefined)
  const lookups = await Promise.all(asked.map((list) => lookUp(questions, list, ip, reversed(ip))))
  const evidence = evidenceOf(
    lookups,
    lists.filter(({ off }) => off !== undefined),
  )
  const answered = lookups.filter(({ result }) => result !== 'silent')
  if (answered.length === 0) return { status: 'na', isUnanswered: lists.some(isSilent), summary: 'No block list answered.', evidence }
  const listed = answered.filter(({ result }) => result === 'listed')
  const major = zonesOf(listed.filter(({ list }) => list.weight === 'major'))
  const fix = removal(zonesOf(listed))
  if (major.length > 0)
    return { status: 'fail', summary: `${ip} is on ${major.join(' and ')}; many receivers refuse its mail.`, evidence, fix }
  if (listed.length > 0) return { status: 'warn', points: 4, summary: `${ip} is on ${zonesOf(listed).join(' and ')}.`, evidence, fix }
  return { status: 'pass', summary: `${ip} is on none of ${answered.length} lists.`, evidence }
}

/** Check 9. */
export async function checkDomainLists({ input, questions, mail, auth, links, mailFromDomain }: Facts): Promise<Verdict> {
  const lists = (await input.lists).filter(({ kind }) => kind === 'domain')
  const hosts = [...new Set(links.map(({ url }) => url.hostname))].slice(0, maxLinkHosts)
  const domains = [mail.fromDomain, mailFromDomain, ...auth.dkim.map(({ domain }) => domain.toLowerCase()), ...hosts]
  const subjects = [...new Set(domains.map(organizationOf))].filter(
    (domain) => domain.includes('.') && plainAddress(domain) === undefined && !domain.startsWith('['),
  )
  const asked = lists.filter(({ off }) => off === undefined)
  const lookups = await Promise.all(asked.flatMap((list) => subjects.map((subject) => lookUp(questions, list, subject, subject))))
  const evidence = evidenceOf(
    lookups,
    lists.filter(({ off }) => off !== undefined),
  )
  const answered = lookups.filter(({ result }) => result !== 'silent')
  if (answered.length === 0) return { status: 'na', isUnanswered: lists.some(isSilent), summary: 'No block list answered.', evidence }
  const listed = answered.filter(({ result }) => result === 'listed')
  const named = (found: readonly Lookup[]): string => [...new Set(found.map(({ subject }) => subject))].join(' and ')
  const major = listed.filter(({ list }) => list.weight === 'major')
  const fix = removal(zonesOf(listed))
  if (major.length > 0) return { status: 'fail', summary: `${named(major)} is on ${zonesOf(major).join(' and ')}.`, evidence, fix }
  if (listed.length > 0)
    return { status: 'warn', points: 2, summary: `${named(listed)} is on ${zonesOf(listed).join(' and ')}.`, evidence, fix }
  return { status: 'pass', summary: `${subjects.join(', ')}: none is on a list.`, evidence }
}
