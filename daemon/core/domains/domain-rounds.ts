/**
 * Checks sending domains automatically. A new domain is checked within minutes, then less and less often until it is verified; a verified
 * domain daily. A record can be missing temporarily, so a loss counts only after a second check. One daemon does this work.
 */
import type { Core } from '../core.ts'
import type { Timer } from '../clock.ts'
import { allOrganizations } from '../tenancy/organization-list.ts'
import { WorkLoop } from '../work-loop.ts'
import { newDomainWork } from './domain-change.ts'
import { sendingDomains, type SendingDomain } from './sending-domain.ts'
import type { SendingDomains } from './sending-domains.ts'

export interface DomainRoundsOptions extends Pick<Core, 'database' | 'clock'> {
  readonly domains: Pick<SendingDomains, 'recheck'>
  readonly onError: (error: unknown) => void
}

const minute = 60_000
const day = 24 * 60 * minute
/** Time from the registration to the first check. */
const firstMs = 2 * minute
/** Minimum time between two checks, and between the detection of a loss and the second check. */
const shortestMs = 5 * minute
/** Interval for domains that were verified earlier. */
const lostMs = 60 * minute
/** Number of domains that are checked concurrently. */
const atATime = 4

interface Owned {
  readonly organizationId: string
  readonly domain: SendingDomain
}

export class DomainRounds extends WorkLoop {
  readonly #options: DomainRoundsOptions
  /** Domains that lost a record in the latest check. */
  readonly #suspects = new Set<string>()
  #alarm: Timer | undefined

  constructor(options: DomainRoundsOptions) {
    super({ ...options, round: (stopping) => this.#round(stopping) })
    this.#options = options
    options.database.onWork(newDomainWork, () => this.wake())
  }

  start(): void {
    this.wake()
  }

  override async stop(): Promise<void> {
    this.#alarm?.cancel()
    await super.stop()
  }

  async #round(stopping: () => boolean): Promise<void> {
    const { database, clock } = this.#options
    const due: Owned[] = []
    let next = Infinity
    for await (const { id: organizationId, deletedAt } of allOrganizations(database)) {
      if (deletedAt !== undefined) continue
      for (const { record } of await database.all(sendingDomains, { organizationId })) {
        const at = dueAt(record)
        if (at <= clock.now()) due.push({ organizationId, domain: record })
        else next = Math.min(next, at)
      }
    }
    for (let at = 0; at < due.length; at += atATime) {
      if (stopping()) return
      next = Math.min(next, ...(await Promise.all(due.slice(at, at + atATime).map((one) => this.#check(one)))))
    }
    this.#setAlarm(next - clock.now())
  }

  /** Returns the time of the next check. */
  async #check({ organizationId, domain }: Owned): Promise<number> {
    const { domains, clock, onError } = this.#options
    const isSecond = this.#suspects.delete(domain.id)
    const seen = await domains.recheck(organizationId, domain, isSecond).catch(onError)
    if (seen === 'lost') this.#suspects.add(domain.id)
    if (seen !== 'kept') return clock.now() + shortestMs
    return clock.now() + (isSecond ? lostMs : intervalOf(domain, clock.now())) // a second check can change the status
  }

  #setAlarm(ms: number): void {
    this.#alarm?.cancel()
    this.#alarm = ms === Infinity || this.stopping ? undefined : this.#options.clock.after(Math.min(ms, day), () => this.wake())
  }
}

const dueAt = (domain: SendingDomain): number =>
  domain.check === null ? domain.createdAt + firstMs : domain.check.at + intervalOf(domain, domain.check.at)

/** Intervals grow with the age of the registration, because records are published soon after it or late. */
function intervalOf({ status, createdAt }: SendingDomain, checkedAt: number): number {
  if (status === 'verified') return day
  if (status === 'failed') return lostMs
  return Math.min(day, Math.max(shortestMs, (checkedAt - createdAt) / 4))
}
