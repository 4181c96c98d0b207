/** The configured DNS blocklists, and tests whether they work: a dead list contains no address or every address. */
import type { Clock } from '#core/clock.ts'
import type { DnsList, ListFault, Resolve } from './resolve.ts'

interface Manner {
  /** Responses that report errors. */
  readonly ignore: readonly string[]
  /** The test entries below the zone: always listed, and never listed (RFC 5782 §5). */
  readonly listed: string
  readonly absent: string
}

const usual: Readonly<Record<DnsList['kind'], Manner>> = {
  ip: { ignore: [], listed: '2.0.0.127', absent: '1.0.0.127' },
  domain: { ignore: [], listed: 'test', absent: 'invalid' },
}
const manners: Readonly<Record<string, Partial<Manner>>> = {
  'dbl.spamhaus.org': { ignore: ['127.0.1.255'], listed: 'dbltest.com' },
  'multi.surbl.org': { ignore: ['127.0.0.1'], listed: '2.0.0.127' },
  'multi.uribl.com': { ignore: ['127.0.0.1'], listed: '2.0.0.127' },
}

/** Parses a list from the configuration, such as `ip/major/zen.spamhaus.org`. */
export function dnsListOf(text: string): DnsList {
  const [kind, weight, zone = ''] = text.split('/')
  const known = kind === 'domain' ? 'domain' : 'ip'
  return { zone, kind: known, weight: weight === 'major' ? 'major' : 'minor', ignore: mannerOf(zone, known).ignore }
}

const mannerOf = (zone: string, kind: DnsList['kind']): Manner => ({ ...usual[kind], ...manners[zone] })

const goodForMs = 3_600_000

/** The lists with their state. Each list is tested at first use and then every hour. */
export class WatchedLists {
  readonly #lists: readonly DnsList[]
  readonly #clock: Clock
  readonly #known = new Map<string, { readonly off: ListFault | undefined; readonly at: number }>()

  constructor(lists: readonly DnsList[], clock: Clock) {
    this.#lists = lists
    this.#clock = clock
  }

  /**
   * The lists, each with its fault if it has one. Never rejects. A list that does not answer is skipped this time and tested again next
   * time.
   */
  current(resolve: Resolve): Promise<readonly DnsList[]> {
    return Promise.all(
      this.#lists.map(async (list) => {
        const off = await this.#fault(list, resolve)
        return off === undefined ? list : { ...list, off }
      }),
    )
  }

  async #fault(list: DnsList, resolve: Resolve): Promise<ListFault | undefined> {
    const before = this.#known.get(list.zone)
    if (before && this.#clock.monotonic() - before.at < goodForMs) return before.off
    const { listed, absent } = mannerOf(list.zone, list.kind)
    const [one, other] = await Promise.all([look(resolve, `${listed}.${list.zone}`), look(resolve, `${absent}.${list.zone}`)])
    if (one === 'silent' || other === 'silent') return 'silent'
    const off = one !== 'listed' ? 'empty' : other !== 'absent' ? 'all' : undefined
    this.#known.set(list.zone, { off, at: this.#clock.monotonic() })
    return off
  }
}

async function look(resolve: Resolve, name: string): Promise<'listed' | 'absent' | 'silent'> {
  try {
    const records = await resolve(name, 'A')
    const isListing = records.some(
      (record) => typeof record === 'string' && record.startsWith('127.') && !record.startsWith('127.255.255.'),
    )
    return isListing ? 'listed' : 'absent'
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    return code === 'ENOTFOUND' || code === 'ENODATA' ? 'absent' : 'silent'
  }
}
