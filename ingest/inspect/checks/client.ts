/** Checks 5 to 7: the address, the name and the encryption of the sending server. */
import type { Said } from '#core/inspect/report.ts'
import { familyOf, isGeneric, isPublic, plainAddress, pointerName } from '../../dns/host-addresses.ts'
import { plainDomain } from '../../dns/domains.ts'
import type { Facts } from '../facts/mail-facts.ts'
import type { Questions } from '../../dns/questions.ts'
import { unanswered, type Looked, type Verdict } from './verdict.ts'
import { say, term } from '../sentences/say.ts'

/** Limit of PTR names to confirm. */
const maxNames = 10

/** `unknown`: DNS did not answer. */
type Confirmation = 'yes' | 'no' | 'unknown'

async function resolvesTo(questions: Questions, name: string, address: string): Promise<Confirmation> {
  const answer = await questions.addresses(name, familyOf(address))
  if (answer.kind === 'fault') return 'unknown'
  return answer.kind === 'records' && answer.records.some((record) => plainAddress(record) === plainAddress(address)) ? 'yes' : 'no'
}

/** Check 5. */
export async function checkReverse({ input, questions }: Facts): Promise<Verdict> {
  const ip = plainAddress(input.session.clientIp)
  if (ip === undefined || !isPublic(ip)) return { status: 'na', summary: say('ptr_private') }
  const answer = await questions.names(pointerName(ip), 'PTR')
  const evidence: Looked[] = [{ label: term('client'), value: ip }]
  if (answer.kind === 'fault') return unanswered(say('silent_name', { ip }), evidence)
  const fix = say('fix_ptr', { ip })
  if (answer.kind === 'none') return { status: 'fail', summary: say('ptr_missing', { ip }), evidence, fix }
  const names = answer.records.map(plainDomain).slice(0, maxNames)
  const seen = [...evidence, ...names.map((value) => ({ label: 'PTR', value }))]
  const confirmed = await Promise.all(names.map((name) => resolvesTo(questions, name, ip)))
  const good = names.filter((_, at) => confirmed[at] === 'yes')
  if (good.length === 0) {
    if (confirmed.includes('unknown')) return unanswered(say('silent_address', { names: names.join(', ') }), seen)
    return { status: 'fail', summary: say('ptr_elsewhere', { ip, names: names.join(', ') }), evidence: seen, fix }
  }
  const own = good.find((name) => !isGeneric(name, ip))
  if (own !== undefined) return { status: 'pass', summary: say('ptr_pass', { ip, name: own }), evidence: seen }
  const silent = names.find((name, at) => confirmed[at] === 'unknown' && !isGeneric(name, ip))
  if (silent !== undefined) return unanswered(say('silent_address', { names: silent }), seen)
  return {
    ...{ status: 'warn', points: 4, evidence: seen },
    summary: say('ptr_generic', { name: good[0] ?? '' }),
    fix: say('fix_ptr_own', { ip }),
  }
}

/** Check 6. */
export async function checkHelo({ input, questions }: Facts): Promise<Verdict> {
  const { helo, clientIp, serverName, rcptTo } = input.session
  const name = plainDomain(helo)
  const ip = plainAddress(clientIp)
  const evidence: Looked[] = [
    { label: 'EHLO', value: helo || term('none') },
    { label: term('client'), value: clientIp },
  ]
  const fix = say('fix_helo')
  const own = [plainDomain(serverName), plainDomain(rcptTo.slice(rcptTo.lastIndexOf('@') + 1))]
  const literal = /^\[(?:ipv6:)?([^\]]*)\]$/.exec(name)?.[1]
  if (literal !== undefined) {
    if (ip !== undefined && plainAddress(literal) === ip) return { status: 'warn', points: 1, summary: say('helo_address'), evidence, fix }
    return { status: 'fail', summary: say('helo_foreign_address'), evidence, fix }
  }
  if (own.includes(name)) return { status: 'fail', summary: say('helo_ours'), evidence, fix }
  if (!name.includes('.') || /^localhost(?:\.|$)/.test(name) || plainAddress(name) !== undefined || !/^[a-z0-9._-]+$/.test(name))
    return { status: 'fail', summary: say('helo_no_name'), evidence, fix }
  if (ip === undefined) return { status: 'na', summary: say('helo_no_client'), evidence }
  return checkName({ name, ip, questions, evidence, fix })
}

interface Greeting {
  readonly name: string
  readonly ip: string
  readonly questions: Questions
  readonly evidence: readonly Looked[]
  readonly fix: Said
}

async function checkName({ name, ip, questions, evidence, fix }: Greeting): Promise<Verdict> {
  const confirmed = await resolvesTo(questions, name, ip)
  if (confirmed === 'yes') return { status: 'pass', summary: say('helo_pass', { name }), evidence }
  const [four, six] = await Promise.all([questions.addresses(name, 4), questions.addresses(name, 6)])
  if ([confirmed, four.kind, six.kind].some((kind) => kind === 'unknown' || kind === 'fault'))
    return unanswered(say('silent_address', { names: name }), evidence)
  const found = [four, six].flatMap((answer) => (answer.kind === 'records' ? answer.records : []))
  const seen = [...evidence, ...found.map((value) => ({ label: term('address_of', { name }), value }))]
  if (found.length > 0) return { status: 'warn', points: 2, summary: say('helo_elsewhere', { name, ip }), evidence: seen, fix }
  const pointers = isPublic(ip) ? await questions.names(pointerName(ip), 'PTR') : undefined
  if (pointers?.kind === 'fault') return unanswered(say('silent_name', { ip }), evidence)
  const isPointer = pointers?.kind === 'records' && pointers.records.some((pointer) => plainDomain(pointer) === name)
  if (isPointer) return { status: 'warn', points: 2, summary: say('helo_one_way', { name, ip }), evidence, fix }
  return { status: 'warn', points: 1, summary: say('helo_unresolved', { name }), evidence, fix }
}

/** Check 7. */
export function checkTls({ input: { session } }: Facts): Verdict {
  const { tls, tlsOffered } = session
  const fix = say('fix_tls')
  if (tls === null) {
    if (!tlsOffered) return { status: 'na', summary: say('tls_not_offered') }
    return { status: 'fail', summary: say('tls_plain'), fix }
  }
  const evidence = [
    { label: term('protocol'), value: tls.protocol },
    { label: term('cipher'), value: tls.cipher },
  ]
  if (/^TLSv1\.[2-9]$/.test(tls.protocol))
    return { status: 'pass', summary: say('tls_pass', { protocol: tls.protocol.replace('TLSv', 'TLS ') }), evidence }
  return { status: 'warn', points: 2, summary: say('tls_old', { protocol: tls.protocol }), evidence, fix }
}
