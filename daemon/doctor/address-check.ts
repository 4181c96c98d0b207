/** Checks the public addresses of outgoing mail: reverse DNS names, blocklists, and whether DNS answers at all. */
import type { Config } from '#config/settings/load.ts'
import type { Check } from '#core/doctor/check.ts'
import { blocklistFindings, reverseFindings, type ListAnswer, type ReverseAnswer } from '#core/doctor/address-findings.ts'
import { finding } from '#core/doctor/finding.ts'
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
  async find() {
    const { config, lookUp } = options
    const questions = new Questions(lookUp)
    const addresses = await ownAddresses(config, questions)
    const reverse = (await Promise.all(addresses.map((address) => reverseOf(questions, address)))).filter((one) => one !== undefined)
    const lists = await Promise.all(
      addresses.flatMap((address) => config.doctor.blocklists.map((zone) => listed(questions, address, zone))),
    )
    const known = lists.filter((one) => one !== undefined)
    if (!questions.wereAsked) await questions.ask(config.smtpHost, 'A') // to find out whether any name server answers
    const found = [...reverseFindings(reverse, config.smtpHost), ...blocklistFindings(known)]
    return questions.isSilent ? [unreachable(config), ...found] : found
  },
})

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
    // a failed look-up of a name is not reported as a fault
    names.slice(0, maxNames).map(async (name) => ({ name, addresses: ((await questions.ask(name, type)) ?? [address]).map(plain) })),
  )
  return { address, names: followed }
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

const unreachable = ({ outbound }: Pick<Config, 'outbound'>) =>
  finding(
    'dns.unreachable',
    '',
    `No name server answers (${outbound.dnsServers.length > 0 ? outbound.dnsServers.join(', ') : 'the name servers of the system'}), so mail cannot be delivered.`,
    'Check the network and the name servers of the system, or set POSTERN_DNS_SERVERS.',
  )
