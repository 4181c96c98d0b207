/**
 * Manages deliverability tests up to the arrival of their mail. An address is valid for a day; only its first mail is scored. Spec
 * "Inspect".
 */
import { Change, decode } from '#store/change.ts'
import { Draft } from '#store/content.ts'
import type { Page } from '#store/database.ts'
import { pack } from '#store/tuple.ts'
import type { Core } from '../core.ts'
import { owningProject } from '../access/principal/project-choice.ts'
import { requireScope, type Principal } from '../access/principal/principal.ts'
import { byProject, listReachable, type List, type OfProject, type PageQuery } from '../access/principal/lists.ts'
import { foldAddress } from '../addresses.ts'
import { Refusal } from '../refusals.ts'
import { meter } from '../tenancy/counters.ts'
import { inspectReportKey, inspectTests, isInspectToken, newInspectToken, setPendingScore, type InspectTest } from './inspect-test.ts'
import type { InspectReport, InspectSession } from './report.ts'
import { transact } from '../writes/transact.ts'

export interface InspectTestOptions extends Core {
  /** A-label domain of the addresses; null if none is configured. */
  readonly domain: string | null
  /** Called after a mail was stored for scoring. */
  readonly onReceived: () => void
}

export interface InspectedTest {
  readonly test: InspectTest
  readonly report: InspectReport | null
}

/** An active test; the MX listener holds it from RCPT to the end of DATA. */
export interface InspectRecipient {
  readonly organizationId: string
  readonly id: string
}

const openMs = 24 * 3_600_000

const missing = (): Refusal => new Refusal('not_found', 'No inspect test has this id.')

export class InspectTests implements List<OfProject, InspectTest> {
  readonly #options: InspectTestOptions

  constructor(options: InspectTestOptions) {
    this.#options = options
  }

  /** Creates a test and meters it. Throws `feature_disabled` without a configured domain, and `not_found`. */
  async create(principal: Principal, projectId: string | undefined): Promise<InspectTest> {
    requireScope(principal, 'api:send')
    const { database, policies, clock, domain } = this.#options
    if (domain === null)
      throw new Refusal('feature_disabled', 'This service has no domain for deliverability tests; its operator can set one.')
    const { projects } = await policies.of(principal.organizationId)
    const now = clock.now()
    const test: InspectTest = {
      ...{ id: database.newId('ins', now), projectId: owningProject(principal, projects, projectId), token: newInspectToken(), domain },
      ...{ shareToken: newInspectToken(), createdAt: now, expiresAt: now + openMs },
      ...{ mail: null, laterMails: 0, result: null, problem: null },
    }
    const change = new Change().insert(inspectTests, principal.organizationId, test)
    meter(change, 'inspect_tests', principal.organizationId, test.projectId, now)
    if (!(await database.commit(change)).ok) throw new Error('two inspect tests drew the same token')
    return test
  }

  /** Lists tests of one project or of all reachable projects, newest first. Throws `not_found`. */
  list(principal: Principal, query: PageQuery & OfProject): Promise<Page<InspectTest>> {
    return listReachable(this.#options, inspectTests, principal, query, byProject)
  }

  /** Throws `not_found` for missing and foreign ids. */
  async get(principal: Principal, id: string): Promise<InspectedTest> {
    const stored = await this.#options.database.get(inspectTests, principal, id)
    if (!stored) throw missing()
    return this.#withReport(principal.organizationId, stored.record)
  }

  /** Returns the test of a public link. Throws `not_found`. */
  async shared(shareToken: string): Promise<InspectedTest> {
    const found = isInspectToken(shareToken) ? await this.#options.database.lookup(inspectTests, 'share', [shareToken]) : undefined
    if (!found) throw new Refusal('not_found', 'Report not found; it may have been removed, or the link is incomplete.')
    return this.#withReport(found.organizationId, found.record)
  }

  /** Whether the test accepts mail now. */
  isOpen({ expiresAt }: InspectTest): boolean {
    return this.#options.clock.now() < expiresAt
  }

  /** Returns the test that accepts mail at the address now, or undefined. */
  async recipientOf(address: string): Promise<InspectRecipient | undefined> {
    const { database, clock } = this.#options
    const token = this.#tokenOf(address)
    const found = token === undefined ? undefined : await database.lookup(inspectTests, 'token', [token])
    return found && clock.now() < found.record.expiresAt ? { organizationId: found.organizationId, id: found.record.id } : undefined
  }

  /** Whether the address has the form of a test address, active or not. */
  isOurs(address: string): boolean {
    return this.#tokenOf(address) !== undefined
  }

  /** Opens a draft for a mail; pass it to `receive` or discard it. `sender` owns the draft until the mail is accepted. */
  openMail({ organizationId }: InspectRecipient, sender: string): Draft {
    const { database, clock } = this.#options
    return new Draft(database, organizationId, database.newId('inm', clock.now()), sender)
  }

  /** Stores the first mail and counts later mails. Consumes the draft; resolves when the write is durable. */
  async receive({ organizationId, id }: InspectRecipient, session: InspectSession, draft: Draft): Promise<'first' | 'later' | 'gone'> {
    const { database, onReceived } = this.#options
    const place = await transact(database, { organizationId }, async (change) => {
      const stored = await change.get(inspectTests, id)
      if (!stored) return 'gone'
      if (stored.record.mail) {
        change.rewrite(inspectTests, organizationId, stored, { ...stored.record, laterMails: stored.record.laterMails + 1 })
        return 'later'
      }
      change.replace(inspectTests, organizationId, stored, { ...stored.record, mail: { session, content: draft.seal(change) } })
      setPendingScore(change, organizationId, id, 0)
      return 'first'
    }).catch(async (error: unknown) => {
      if (error instanceof Refusal) await draft.discard() // after another error, the result of the write is unknown
      throw error
    })
    await draft.discard(place === 'first')
    if (place === 'first') onReceived()
    return place
  }

  #tokenOf(address: string): string | undefined {
    const { domain } = this.#options
    const folded = foldAddress(address)
    const at = folded.lastIndexOf('@')
    const token = folded.slice(0, at)
    return domain !== null && folded.slice(at + 1) === foldAddress(domain) && isInspectToken(token) ? token : undefined
  }

  async #withReport(organizationId: string, test: InspectTest): Promise<InspectedTest> {
    const entry = test.result ? await this.#options.database.kv.get(pack(inspectReportKey(organizationId, test.id))) : undefined
    return { test, report: entry ? decode<InspectReport>(entry.value) : null }
  }
}
