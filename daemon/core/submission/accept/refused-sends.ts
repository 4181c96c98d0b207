/**
 * Records invalid sends with at least one readable recipient. Each gets a trace with the reason and without content, so that a search for
 * the message explains why it was not sent.
 */
import { Change } from '#store/change.ts'
import { newTraceId } from '#store/ids.ts'
import type { Element } from '#store/tuple.ts'
import { hash } from 'node:crypto'
import type { Core } from '../../core.ts'
import { reachableProject } from '../../access/principal/project-choice.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { parseMailbox, type Mailbox } from '../../addresses.ts'
import { covers } from '../../publishable/publishable-gates.ts'
import type { PublishableKeys } from '../../publishable/publishable-keys.ts'
import { limitsOf } from '../../plan/limits.ts'
import { count as countSends, projectNames, refusedLetter } from '../../insights/count.ts'
import { Refusal } from '../../refusals.ts'
import { countTrace, dayOf, refusedCounter, refusedPagesCounter, untracedCounter } from '../../tenancy/counters.ts'
import { advance } from '../../trace/states.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import type { Accept } from './accept.ts'

export interface RefusedSendOptions extends Core {
  /** Registers each write, so that a deletion waits for it. */
  readonly accept: Pick<Accept, 'begin'>
  readonly keys: Pick<PublishableKeys, 'ofBearer'>
}

/** The readable fields of a refused send. */
export interface RefusedSend {
  readonly projectId: string | undefined
  readonly from: Mailbox | undefined
  readonly to: readonly Mailbox[]
  /** Blind copies. */
  readonly bcc: readonly Mailbox[]
}

/** Maximum traces of refused sends of a project per UTC day. Also limited to a tenth of the traces that the plan stores. */
const maxTraces = 1000
/** Maximum of these traces from web pages, whose requests are unauthenticated. */
const maxPageTraces = 100
const maxReason = 500
const countedMs = 2 * 86_400_000
const emptySha256 = hash('sha256', '')

export class RefusedSends {
  readonly #options: RefusedSendOptions

  constructor(options: RefusedSendOptions) {
    this.#options = options
  }

  /**
   * Returns the refusal with the id of its trace in `details.trace_id`. Returns it unchanged if no trace was stored: no recipient could be
   * read, or the daily limit is reached. Sends of a publishable key leave a trace only if the key may send to all recipients, so that
   * visitors cannot store arbitrary addresses.
   */
  async record(principal: Principal, send: RefusedSend, refusal: Refusal): Promise<Refusal> {
    if (send.to.length + send.bcc.length === 0) return refusal
    const end = this.#options.accept.begin()
    try {
      const meant = principal.publishableToken === undefined ? send : await this.#ofPage(principal, send)
      return meant ? await this.#record(principal, meant, refusal) : refusal
    } finally {
      end()
    }
  }

  /** Returns sender and recipients, or undefined unless the key may send to all recipients. */
  async #ofPage(principal: Principal, send: RefusedSend): Promise<RefusedSend | undefined> {
    const { allowedTo, lockedFrom } = await this.#options.keys.ofBearer(principal)
    const isTheirs = [...send.to, ...send.bcc].every((mailbox) => allowedTo.some((entry) => covers(entry, mailbox)))
    return isTheirs ? { ...send, from: parseMailbox(lockedFrom) } : undefined
  }

  async #record(principal: Principal, send: RefusedSend, refusal: Refusal): Promise<Refusal> {
    const { database, policies, clock } = this.#options
    const { organizationId } = principal
    const { projects, organization } = await policies.of(organizationId)
    const projectId = this.#projectOf(principal, projects, send.projectId)
    if (projectId === undefined) return refusal
    const now = clock.now()
    const trace = traceOf(principal, projectId, send, refusal, now)
    const most = Math.min(maxTraces, Math.floor((limitsOf(organization).tracesStored ?? Infinity) / 10))
    const change = countTrace(new Change().insert(traces, organizationId, trace), organizationId, trace, 1)
    const count = (key: readonly Element[], limit: number): void => void change.add(key, 1, limit).expire(now + countedMs, key)
    count(refusedCounter(organizationId, projectId, dayOf(now)), most)
    if (trace.door === 'publishable_key') count(refusedPagesCounter(organizationId, projectId, dayOf(now)), Math.min(maxPageTraces, most))
    countSends(change, { organizationId, projectId }, [refusedLetter + refusal.code, projectNames.refusedWithTrace], now)
    const result = await database.commit(change)
    if (result.ok) return withDetails(refusal, { trace_id: trace.id })
    const beyond = untracedCounter(organizationId, projectId, dayOf(now))
    await database.commit(new Change().add(beyond, 1).expire(now + countedMs, beyond))
    return refusal
  }

  #projectOf(principal: Principal, projects: ReadonlyMap<string, unknown>, named: string | undefined): string | undefined {
    try {
      const found = reachableProject(principal, projects, named, 'project_id') ?? principal.projectId
      return projects.has(found) ? found : undefined
    } catch (error) {
      if (error instanceof Refusal) return undefined
      throw error
    }
  }
}

function withDetails(refusal: Refusal, details: Readonly<Record<string, unknown>>): Refusal {
  const { code, message, nextAction } = refusal
  return new Refusal(code, message, { nextAction, details: { ...refusal.details, ...details }, cause: refusal })
}

function traceOf(principal: Principal, projectId: string, { from, to, bcc }: RefusedSend, refusal: Refusal, now: number): Trace {
  const { code, message: reason } = refusal
  const id = newTraceId()
  const status = advance('pending', 'invalid')
  const known = new Map(bcc.map(({ address }) => [address, { address, status, bcc: true as const }] as const))
  const seen = new Map(to.map(({ address }) => [address, { address, status }] as const))
  return {
    ...{
      id,
      projectId,
      door: principal.publishableToken !== undefined ? 'publishable_key' : principal.agent ? 'mcp' : 'rest',
      submittedBy: principal.credentialId,
      createdAt: now,
      updatedAt: now,
      status,
    },
    outcome: 'refused',
    outcomeReason: reason.length > maxReason ? `${reason.slice(0, maxReason - 1)}…` : reason,
    refusalCode: code,
    mailFrom: from?.address ?? '',
    recipients: [...new Map([...known, ...seen]).values()],
    ...{ headerFrom: from?.address ?? '', subject: '', messageId: '', destinationId: null },
    route: { by: 'none', ruleId: null, reason: 'The message was refused before it was routed.' },
    content: { id, size: 0, sha256: emptySha256, rows: 0 },
    ...{ prefix: '', eightBit: false, smtputf8: false, attempts: 0, unknownAttempts: 0, nextAttemptAt: null },
  }
}
