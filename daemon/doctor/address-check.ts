/** Checks the public addresses of outgoing mail: reverse DNS names, blocklists, and whether DNS answers at all. */
import type { Config } from '#config/settings/load.ts'
import { ofService, type Check } from '#core/doctor/check.ts'
import { blocklistFindings, reverseFindings, type ListAnswer, type ReverseAnswer } from '#core/doctor/address-findings.ts'
import { observed, type Finding, type Observed } from '#core/findings/finding.ts'
import type { LookUp } from '#core/outbound/resolver.ts'
import { isPublic, plainAddress, pointerName, reversed } from '#ingest/dns/host-addresses.ts'

export interface AddressCheckOptions {
  readonly config: Pick<Config, 'doctor' | 'outbound' | 'smtpHost'>
  readonly lookUp: LookUp
}

const hour = 3_600_000
/** Maximum number of names to resolve for an address. */
const maxNames = 10

export const addressCheck = (options: AddressCheckOptions): Check => ({
  name: 'addresses',
  everyMs: hour,
  place: 'one',
  async look() {
    const { found, covers } = await examineAddresses(options)
    return { ...ofService(found), coversFinding: (_, finding) => covers(finding) }
  },
})

export interface ExaminedAddresses {
  readonly found: readonly Observed[]
  /** Whether the name servers answered all questions about the finding. */
  readonly covers: (finding: Pick<Finding, 'kind' | 'subject'>) => boolean
}

export async function examineAddresses({ config, lookUp }: AddressCheckOptions): Promise<ExaminedAddresses> {
  const questions = new Questions(lookUp)
  const addresses = await ownAddresses(config, questions)
  const reverse = (await Promise.all(addresses.map((address) => reverseOf(questions, address)))).filter((one) => one !== undefined)
  const lists = await Promise.all(addresses.flatMap((address) => config.doctor.blocklists.map((zone) => listed(questions, address, zone))))
  const known = lists.filter((one) => one !== undefined)
  if (!questions.wereAsked) await questions.ask(config.smtpHost, 'A') // to find out whether any name server answers
  const found = [...reverseFindings(reverse, config.smtpHost), ...blocklistFindings(known)]
  const subjects = new Set([
    ...reverse.map(({ address }) => address),
    ...known.flatMap(({ address, zone }) => [`${address} ${zone}`, zone]),
  ])
  return {
    found: questions.isSilent ? [unreachable(config), ...found] : found,
    covers: ({ kind, subject }) => questions.areAllAnswered || kind === 'dns.unreachable' || subjects.has(subject),
  }
}

/** Returns the configured addresses, or else the public addresses of the host name and of SPF. */
async function ownAddresses({ doctor, outbound, smtpHost }: AddressCheckOptions['config'], questions: Questions): Promise<string[]> {
  if (doctor.addresses.length > 0) return doctor.addresses.map(plain)
  const named = outbound.spf.flatMap((mechanism) => /^ip[46]:([^/]+)$/.exec(mechanism)?.[1] ?? [])
  const resolved = smtpHost.includes('.')
    ? [...((await questions.ask(smtpHost, 'A')) ?? []), ...((await questions.ask(smtpHost, 'AAAA')) ?? [])]
    : []
  return [...new Set([...named, ...resolved].map(plain))].filter(isPublic)
}

/** Returns the canonical form of an address. */
const plain = (address: string): string => plainAddress(address) ?? address

/** Returns undefined if the name servers do not answer. */
async function reverseOf(questions: Questions, address: string): Promise<ReverseAnswer | undefined> {
  const names = await questions.ask(pointerName(address), 'PTR')
  if (!names) return undefined
  const type = address.includes(':') ? 'AAAA' : 'A'
  const followed = await Promise.all(
    names.slice(0, maxNames).map(async (name) => ({ name, addresses: (await questions.ask(name, type))?.map(plain) })),
  )
  const isRight = followed.some(({ addresses }) => addresses?.includes(address))
  if (!isRight && followed.some(({ addresses }) => addresses === undefined)) return undefined // not reported as a fault
  return { address, names: followed.map(({ name, addresses = [] }) => ({ name, addresses })) }
}

async function listed(questions: Questions, address: string, zone: string): Promise<ListAnswer | undefined> {
  const codes = await questions.ask(`${reversed(address)}.${zone}`, 'A')
  return codes && { address, zone, codes }
}

/** Looks up records, and records whether any question was answered. */
class Questions {
  readonly #lookUp: LookUp
  #asked = 0
  #answered = 0

  constructor(lookUp: LookUp) {
    this.#lookUp = lookUp
  }

  get wereAsked(): boolean {
    return this.#asked > 0
  }

  get areAllAnswered(): boolean {
    return this.#answered === this.#asked
  }

  /** Questions were sent, but none was answered. */
  get isSilent(): boolean {
    return this.#asked > 0 && this.#answered === 0
  }

  /** Returns an empty list if the record does not exist; undefined without an answer. */
  async ask(name: string, type: 'A' | 'AAAA' | 'PTR'): Promise<readonly string[] | undefined> {
    this.#asked++
    try {
      const found = (await this.#lookUp(name, type)).filter((record) => typeof record === 'string')
      this.#answered++
      return found
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      if (code !== 'ENOTFOUND' && code !== 'ENODATA') return undefined
      this.#answered++
      return []
    }
  }
}

const unreachable = ({ outbound }: Pick<Config, 'outbound'>): Observed =>
  observed('dns.unreachable', '', { servers: outbound.dnsServers.join(', ') || 'system', code: 'none' })
