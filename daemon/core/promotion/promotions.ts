/**
 * Evidence for promoting a destination from sandbox to live. Collected on request and stored with the destination until the next
 * collection.
 */
import type { Core } from '../core.ts'
import { refuseUnseen } from '../access/principal/agent-approval.ts'
import type { Principal } from '../access/principal/principal.ts'
import type { Probes } from '../delivery/probe/probes.ts'
import type { ProbeStep } from '../delivery/transport.ts'
import type { SendingDomains } from '../domains/sending-domains.ts'
import { parseMailbox, type Mailbox } from '../addresses.ts'
import { inspectTests as inspectTestRecords, type InspectTest } from '../inspect/inspect-test.ts'
import type { InspectTests } from '../inspect/inspect-tests.ts'
import { invalid, Refusal } from '../refusals.ts'
import { destinationEvidence, type DestinationEvidence } from '../routing/destination-evidence.ts'
import type { Destination } from '../routing/destination.ts'
import type { Destinations } from '../routing/destinations/destinations.ts'
import { assertMayChange } from '../routing/policy/destination-owner.ts'
import type { Policy } from '../routing/policy/policy.ts'
import type { SendMessages } from '../submission/doors/send-messages.ts'
import type { Simulate } from '../submission/simulate/simulate.ts'
import { traces } from '../trace/trace.ts'
import { matchingTraces } from '../trace/trace-search.ts'
import { actorOf } from '../writes/audit.ts'
import { transact } from '../writes/transact.ts'

export interface PromotionOptions extends Core {
  readonly destinations: Pick<Destinations, 'get'>
  readonly probes: Pick<Probes, 'test'>
  readonly sendingDomains: Pick<SendingDomains, 'list' | 'recordsFor' | 'verify'>
  readonly inspectTests: Pick<InspectTests, 'get' | 'create' | 'isOpen'>
  readonly sendMessages: Pick<SendMessages, 'send'>
  readonly simulate: Pick<Simulate, 'again'>
}

export interface EvidenceRequest {
  readonly inspectTestId?: string | undefined
  readonly sendTest?: boolean | undefined
  /** From address of the test; defaults to that of the destination. */
  readonly from?: Mailbox | undefined
}

/** `proofStatus`: progress of the sent test; null if no test was sent. */
export interface EvidenceSeen extends DestinationEvidence {
  readonly proofStatus: 'waiting' | 'scored' | 'failed' | 'elsewhere' | 'expired' | null
}

const maxDomains = 20
/** Domains checked within this time are not looked up again. */
const freshMs = 60_000
const maxMessages = 20

export class Promotions {
  readonly #options: PromotionOptions

  constructor(options: PromotionOptions) {
    this.#options = options
  }

  /**
   * Returns the latest evidence, with the score of a test that arrived since; null without evidence. Throws `not_found` for a destination
   * that the caller cannot reach.
   */
  async evidence(principal: Principal, id: string): Promise<EvidenceSeen | null> {
    const { shared } = await this.#options.destinations.get(principal, id)
    if (principal.bound && shared !== undefined) return null // its evidence counts messages of all projects
    const { organizationId } = principal
    const stored = await this.#options.database.get(destinationEvidence, { organizationId }, id)
    return stored ? this.#withScore(principal, stored.record) : null
  }

  /**
   * Collects evidence. Probes the destination, checks the records of the sending domains for its provider, and simulates the last captured
   * messages with it live. With `sendTest`, it also sends a message through the destination to a new deliverability test. Throws
   * `not_found` for a destination or test that the caller cannot reach. Throws `insufficient_scope` for an organization-wide destination
   * that the caller cannot change. Throws `conflict` for a test without a score, and if the test cannot be sent.
   */
  async collect(principal: Principal, id: string, { inspectTestId, sendTest = false, from }: EvidenceRequest): Promise<EvidenceSeen> {
    const { database, destinations, probes, clock } = this.#options
    const destination = await destinations.get(principal, id)
    assertMayChange(principal, destination)
    const inspect = inspectTestId === undefined ? null : await this.#inspected(principal, inspectTestId)
    const [{ ok, steps }, domains, dryRun] = await Promise.all([
      probes.test(principal, id),
      this.#domains(principal, id),
      this.#dryRun(principal, destination),
    ])
    const { organizationId, credentialId } = principal
    const { projectId, mode } = destination
    const before = (await database.get(destinationEvidence, { organizationId }, id))?.record
    const record: DestinationEvidence = {
      ...{ id, projectId, at: clock.now(), by: credentialId, mode, domains, dryRun, inspect },
      ...(before?.proof && !inspect && { proof: before.proof }),
      probe: { ok, steps: steps.map(storedStep) },
    }
    await this.#keep(principal, record)
    if (!sendTest) return this.#withScore(principal, record)
    if (!ok)
      throw new Refusal('conflict', 'The test was not sent because the probe failed; see the failed step in the evidence.', {
        nextAction: 'fix_destination',
      })
    const proven = { ...record, proof: await this.#sendProof(principal, destination, from) }
    await this.#keep(principal, proven)
    return this.#withScore(principal, proven)
  }

  async #keep(principal: Principal, record: DestinationEvidence): Promise<void> {
    const { database, audit } = this.#options
    const { organizationId } = principal
    const { id, projectId, probe, dryRun, inspect, proof } = record
    await transact(database, { organizationId }, async (change) => {
      const before = await change.get(destinationEvidence, id)
      if (before) change.replace(destinationEvidence, organizationId, before, record)
      else change.insert(destinationEvidence, organizationId, record)
      const isSent = proof !== undefined && proof.traceId !== before?.record.proof?.traceId
      const found = { probe: probe.ok, messages: dryRun.messages, relayed: dryRun.relayed, score: inspect?.score ?? null }
      audit.record(change, {
        organizationId,
        actor: actorOf(principal),
        act: isSent ? 'destination.test_sent' : 'destination.evidence_collected',
        target: id,
        projectId,
        details: isSent ? { trace_id: proof.traceId, inspect_test_id: proof.testId } : found,
      })
    })
  }

  /**
   * Sends a short message through the destination, regardless of its mode, to the address of a new test. It counts as a send and as a test.
   */
  async #sendProof(principal: Principal, destination: Destination, from: Mailbox | undefined): Promise<DestinationEvidence['proof']> {
    const { inspectTests, sendMessages, clock } = this.#options
    const { id, name, projectId } = destination
    refuseUnseen(await this.#options.policies.of(principal.organizationId), principal)
    const sender = from ?? (destination.from === null ? undefined : parseMailbox(destination.from))
    if (!sender) throw invalid([{ path: 'from', message: 'is required, because the destination supplies none' }])
    const { id: testId, token, domain } = await inspectTests.create(principal, projectId)
    const to = parseMailbox(`${token}@${domain}`)
    if (!to) throw new Error('the address of a deliverability test cannot be parsed')
    const text = `This message tests the delivery of the destination ${name}.\r\nA person requested it before real mail is sent through it.\r\n`
    const { traceId } = await sendMessages.send(principal, {
      ...{ from: sender, to: [to], cc: [], bcc: [], replyTo: [], headers: [], attachments: [], html: undefined, template: undefined },
      ...{ subject: `Deliverability test of ${name}`, text, projectId, destinationId: id, idempotencyKey: undefined, isProof: true },
    })
    return { testId, traceId, at: clock.now() }
  }

  /** Adds the score of the sent test if it is available, and if this destination delivered the message without failover. */
  async #withScore(principal: Principal, record: DestinationEvidence): Promise<EvidenceSeen> {
    const { proof } = record
    if (!proof) return { ...record, proofStatus: null }
    const { database, inspectTests } = this.#options
    const { organizationId } = principal
    const reach = { organizationId }
    const trace = (await database.get(traces, reach, proof.traceId))?.record
    const test = (await database.get(inspectTestRecords, reach, proof.testId))?.record
    if (trace?.status === 'failed') return { ...record, proofStatus: 'failed' }
    if (trace && trace.destinationId !== record.id) return { ...record, proofStatus: 'elsewhere' }
    if (!test) return { ...record, proofStatus: 'expired' }
    if (test.problem !== null) return { ...record, proofStatus: 'failed' }
    if (test.result && !record.inspect) return { ...record, inspect: scoreOf(test, test.result), proofStatus: 'scored' }
    if (test.result) return { ...record, proofStatus: 'scored' }
    return { ...record, proofStatus: inspectTests.isOpen(test) || test.mail ? 'waiting' : 'expired' }
  }

  async #inspected(principal: Principal, testId: string): Promise<DestinationEvidence['inspect']> {
    const { test } = await this.#options.inspectTests.get(principal, testId)
    if (!test.result)
      throw new Refusal(
        'conflict',
        'inspect_test_id: this deliverability test has no score yet; send a mail to its address, and wait for the report.',
      )
    return scoreOf(test, test.result)
  }

  /** Returns the current results of DNS checks; failed look-ups have the verdict `error`. */
  async #domains(principal: Principal, destinationId: string): Promise<DestinationEvidence['domains']> {
    const { sendingDomains, clock } = this.#options
    const { rows } = await sendingDomains.list(principal, { limit: maxDomains, cursor: undefined })
    return Promise.all(
      rows.map(async ({ domain: { id, domain, check } }) => {
        if (!check || check.at <= clock.now() - freshMs) await sendingDomains.verify(principal, id)
        const records = await sendingDomains.recordsFor(principal, id, destinationId)
        return {
          id,
          domain,
          records: records.map(({ purpose, required, check }) => ({ purpose, required, verdict: check?.verdict ?? null })),
        }
      }),
    )
  }

  /** Applies the decision of a send, with the destination live. */
  async #dryRun(principal: Principal, destination: Destination): Promise<DestinationEvidence['dryRun']> {
    const { database, policies, simulate } = this.#options
    const policy = asLive(await policies.of(principal.organizationId), destination)
    const wanted = { destinationId: destination.id, status: 'captured', limit: maxMessages, cursor: undefined } as const
    const { rows } = await matchingTraces(database, principal, wanted)
    const sums = { messages: rows.length, relayed: 0, suppressed: 0, refused: 0, elsewhere: 0 }
    for (const trace of rows) {
      const { refusal, decision, suppressed } = await simulate.again(principal, policy, trace)
      if (refusal) sums.refused++
      else if (decision?.destinationId !== destination.id || decision.outcome !== 'relayed') sums.elsewhere++
      else if (suppressed !== undefined && suppressed.size > 0) sums.suppressed++
      else sums.relayed++
    }
    return sums
  }
}

const storedStep = ({ certificateNames, ...step }: ProbeStep): DestinationEvidence['probe']['steps'][number] => ({
  ...step,
  ...(certificateNames && { certificateNames: [...certificateNames] }),
})

const scoreOf = (test: InspectTest, { score, grade }: NonNullable<InspectTest['result']>): NonNullable<DestinationEvidence['inspect']> => ({
  ...{ testId: test.id, score, grade },
  at: test.mail?.session.receivedAt ?? test.createdAt,
})

function asLive(policy: Policy, { id }: Destination): Policy {
  const current = policy.destinations.get(id)
  if (!current) return policy
  const live: Destination = { ...current, mode: 'live' }
  return {
    ...policy,
    destinations: new Map([...policy.destinations, [id, live]]),
    orgDefault: policy.orgDefault?.id === id ? live : policy.orgDefault,
  }
}
