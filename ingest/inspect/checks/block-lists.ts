/** Checks 8 and 9: whether DNS lists contain the client's address, or a domain of the mail, as a source of unwanted mail. */
import type { Said } from '#core/inspect/report.ts'
import { isPublic, plainAddress, reversed } from '../../dns/host-addresses.ts'
import { organizationOf } from '../../dns/domains.ts'
import type { Facts } from '../facts/mail-facts.ts'
import type { DnsList } from '../../dns/resolve.ts'
import type { Questions } from '../../dns/questions.ts'
import type { Looked, Verdict } from './verdict.ts'
import { say, term } from '../sentences/say.ts'

const maxLinkHosts = 20

interface Lookup {
  readonly list: DnsList
  /** An IP address or a domain. */
  readonly subject: string
  readonly result: 'listed' | 'clear' | 'silent'
  readonly codes: readonly string[]
}

/** A listing is an answer in 127.0.0.0/8 that is not an error of the list; other answers do not count (RFC 5782 §2.1). */
async function lookUp(questions: Questions, list: DnsList, subject: string, label: string): Promise<Lookup> {
  const answer = await questions.addresses(`${label}.${list.zone}`, 4)
  if (answer.kind === 'fault') return { list, subject, result: 'silent', codes: [] }
  if (answer.kind === 'none') return { list, subject, result: 'clear', codes: [] }
  const { records: codes } = answer
  const isError = codes.some((code) => !code.startsWith('127.') || code.startsWith('127.255.255.') || list.ignore.includes(code))
  return { list, subject, result: isError ? 'silent' : 'listed', codes }
}

/** The result of each list, or the reason why it was not queried or did not answer. */
function evidenceOf(lookups: readonly Lookup[], off: readonly DnsList[]): Looked[] {
  const zones = [...new Set(lookups.map(({ list }) => list))]
  return [
    ...zones.map((list) => {
      const own = lookups.filter((lookup) => lookup.list === list)
      const listed = own.filter(({ result }) => result === 'listed').map(({ subject, codes }) => `${subject} (${codes.join(', ')})`)
      const isClear = own.some(({ result }) => result === 'clear')
      const value = listed.length > 0 ? term('listed', { subjects: listed.join('; ') }) : term(isClear ? 'unlisted' : 'no_answer')
      return { label: list.zone, value }
    }),
    ...off.map(({ zone, off: fault = 'silent' }) => ({ label: zone, value: term(`list_${fault}`) })),
  ]
}

/** True for a list without an answer. Lists with another fault are dead. */
const isSilent = ({ off }: DnsList): boolean => off === undefined || off === 'silent'

/** Joins names of lists or entries without duplicates. */
const named = (names: readonly string[]): string => [...new Set(names)].join(', ')
const zonesOf = (lookups: readonly Lookup[]): string => named(lookups.map(({ list }) => list.zone))

/** Check 8. */
export async function checkAddressLists({ input, questions }: Facts): Promise<Verdict> {
  const ip = plainAddress(input.session.clientIp)
  if (ip === undefined || !isPublic(ip)) return { status: 'na', summary: say('lists_private') }
  const lists = (await input.lists).filter(({ kind }) => kind === 'ip')
  const asked = lists.filter(({ off }) => off === undefined)
  const lookups = await Promise.all(asked.map((list) => lookUp(questions, list, ip, reversed(ip))))
  const evidence = evidenceOf(
    lookups,
    lists.filter(({ off }) => off !== undefined),
  )
  const answered = lookups.filter(({ result }) => result !== 'silent')
  if (answered.length === 0) return { status: 'na', isUnanswered: lists.some(isSilent), summary: say('lists_silent'), evidence }
  const listed = answered.filter(({ result }) => result === 'listed')
  const major = listed.filter(({ list }) => list.weight === 'major')
  const fix = say('fix_lists', { lists: zonesOf(listed) })
  if (major.length > 0) return { status: 'fail', summary: say('ip_listed_major', { ip, lists: zonesOf(major) }), evidence, fix }
  if (listed.length > 0) return { status: 'warn', points: 4, summary: say('ip_listed', { ip, lists: zonesOf(listed) }), evidence, fix }
  return { status: 'pass', summary: say('ip_unlisted', { ip, count: answered.length }), evidence }
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
  if (answered.length === 0) return { status: 'na', isUnanswered: lists.some(isSilent), summary: say('lists_silent'), evidence }
  const listed = answered.filter(({ result }) => result === 'listed')
  const sayListed = (found: readonly Lookup[]): Said =>
    say('domains_listed', { lists: zonesOf(found), domains: named(found.map(({ subject }) => subject)) })
  const major = listed.filter(({ list }) => list.weight === 'major')
  const fix = say('fix_lists', { lists: zonesOf(listed) })
  if (major.length > 0) return { status: 'fail', summary: sayListed(major), evidence, fix }
  if (listed.length > 0) return { status: 'warn', points: 2, summary: sayListed(listed), evidence, fix }
  return { status: 'pass', summary: say('domains_unlisted', { domains: subjects.join(', ') }), evidence }
}
