/** Checks 5 to 7: the server that delivered, by its address, its name and its encryption. */
import { familyOf, isGeneric, isPublic, plainAddress, pointerName } from '../../dns/addresses.ts'
import { plainDomain } from '../../dns/domains.ts'
import type { Facts } from '../facts/mail-facts.ts'
import type { Questions } from '../../dns/questions.ts'
import { unanswered, type Verdict } from './verdict.ts'

/** A host with more names than this is looked at by the first ones only. */
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
  if (ip === undefined || !isPublic(ip)) return { status: 'na', summary: 'The mail came from a private address, which has no public name.' }
  const answer = await questions.names(pointerName(ip), 'PTR')
  const evidence = [{ label: 'Client address', value: ip }]
  if (answer.kind === 'fault') return unanswered(`the name of ${ip}`, evidence)
  const fix = `Let the owner of ${ip} (your hosting provider) set its PTR record to the name of your mail server, and let that name resolve to ${ip}.`
  if (answer.kind === 'none') return { status: 'fail', summary: `${ip} has no name in reverse DNS.`, evidence, fix }
  const names = answer.records.map(plainDomain).slice(0, maxNames)
  const seen = [...evidence, ...names.map((value) => ({ label: 'PTR', value }))]
  const confirmed = await Promise.all(names.map((name) => resolvesTo(questions, name, ip)))
  const good = names.filter((_, at) => confirmed[at] === 'yes')
  if (good.length === 0) {
    if (confirmed.includes('unknown')) return unanswered(`the address of ${names.join(', ')}`, seen)
    return { status: 'fail', summary: `${names.join(' and ')} does not resolve back to ${ip}.`, evidence: seen, fix }
  }
  const own = good.find((name) => !isGeneric(name, ip))
  if (own !== undefined) return { status: 'pass', summary: `${ip} is ${own}, and ${own} is ${ip}.`, evidence: seen }
  const silent = names.find((name, at) => confirmed[at] === 'unknown' && !isGeneric(name, ip))
  if (silent !== undefined) return unanswered(`the address of ${silent}`, seen)
  return {
    ...{ status: 'warn', points: 4, evidence: seen },
    summary: `${good[0]} looks like the name of a dial-in or of any rented address.`,
    fix: `Let the owner of ${ip} set its PTR record to a name of your own, such as mail.example.com.`,
  }
}

/** Check 6. */
export async function checkHelo({ input, questions }: Facts): Promise<Verdict> {
  const { helo, clientIp, serverName, rcptTo } = input.session
  const name = plainDomain(helo)
  const ip = plainAddress(clientIp)
  const evidence = [
    { label: 'EHLO', value: helo || '(none)' },
    { label: 'Client address', value: clientIp },
  ]
  const fix = 'Set the host name of the sending mail server to a full name that resolves to its address, and use it in EHLO.'
  const own = [plainDomain(serverName), plainDomain(rcptTo.slice(rcptTo.lastIndexOf('@') + 1))]
  const literal = /^\[(?:ipv6:)?([^\]]*)\]$/.exec(name)?.[1]
  if (literal !== undefined) {
    if (ip !== undefined && plainAddress(literal) === ip)
      return { status: 'warn', points: 1, summary: 'The server gives its address in place of a name.', evidence, fix }
    return { status: 'fail', summary: 'The server greets with an address that is not its own.', evidence, fix }
  }
  if (own.includes(name)) return { status: 'fail', summary: 'The server greets with our name, as forgers do.', evidence, fix }
  if (!name.includes('.') || /^localhost(?:\.|$)/.test(name) || plainAddress(name) !== undefined || !/^[a-z0-9._-]+$/.test(name))
    return { status: 'fail', summary: 'The server does not greet with a full host name.', evidence, fix }
  if (ip === undefined) return { status: 'na', summary: 'The address of the server is not known.', evidence }
  return checkName({ name, ip, questions, evidence, fix })
}

interface Greeting {
  readonly name: string
  readonly ip: string
  readonly questions: Questions
  readonly evidence: NonNullable<Verdict['evidence']>
  readonly fix: string
}

async function checkName({ name, ip, questions, evidence, fix }: Greeting): Promise<Verdict> {
  const confirmed = await resolvesTo(questions, name, ip)
  if (confirmed === 'yes') return { status: 'pass', summary: `${name} resolves to the address of the server.`, evidence }
  const [four, six] = await Promise.all([questions.addresses(name, 4), questions.addresses(name, 6)])
  if ([confirmed, four.kind, six.kind].some((kind) => kind === 'unknown' || kind === 'fault'))
    return unanswered(`the address of ${name}`, evidence)
  const found = [four, six].flatMap((answer) => (answer.kind === 'records' ? answer.records : []))
  const seen = [...evidence, ...found.map((value) => ({ label: `Address of ${name}`, value }))]
  if (found.length > 0) return { status: 'warn', points: 2, summary: `${name} resolves, but not to ${ip}.`, evidence: seen, fix }
  const pointers = isPublic(ip) ? await questions.names(pointerName(ip), 'PTR') : undefined
  if (pointers?.kind === 'fault') return unanswered(`the name of ${ip}`, evidence)
  const isPointer = pointers?.kind === 'records' && pointers.records.some((pointer) => plainDomain(pointer) === name)
  if (isPointer) return { status: 'warn', points: 2, summary: `${name} is the name of ${ip}, but does not resolve back.`, evidence, fix }
  return { status: 'warn', points: 1, summary: `${name} does not resolve.`, evidence, fix }
}

/** Check 7. */
export function checkTls({ input: { session } }: Facts): Verdict {
  const { tls, tlsOffered } = session
  const fix = 'Switch on opportunistic TLS for outgoing mail (STARTTLS) with TLS 1.2 or newer.'
  if (tls === null) {
    if (!tlsOffered) return { status: 'na', summary: 'This server offered no encryption, so none could be used.' }
    return { status: 'fail', summary: 'The mail came in plain text, although encryption was offered.', fix }
  }
  const evidence = [
    { label: 'Protocol', value: tls.protocol },
    { label: 'Cipher', value: tls.cipher },
  ]
  if (/^TLSv1\.[2-9]$/.test(tls.protocol))
    return { status: 'pass', summary: `The mail came over ${tls.protocol.replace('TLSv', 'TLS ')}.`, evidence }
  return { status: 'warn', points: 2, summary: `The mail came over ${tls.protocol}, which is out of date.`, evidence, fix }
}
