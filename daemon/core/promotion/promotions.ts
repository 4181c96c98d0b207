/** Evidence for the way from the sandbox to live: found on request, and kept with the destination until it is found anew. */
import type { Core } from '../core.ts'
import type { Principal } from '../access/principal/principal.ts'
import type { Probes } from '../delivery/probe/probes.ts'
import type { SendingDomains } from '../domains/sending-domains.ts'
import type { InspectTests } from '../inspect/inspect-tests.ts'
import { Refusal } from '../refusals.ts'
import { destinationEvidence, type DestinationEvidence } from '../routing/destination-evidence.ts'
import type { Destination } from '../routing/destination.ts'
import type { Destinations } from '../routing/destinations/destinations.ts'
import type { Policy } from '../routing/policy/policy.ts'
import type { Simulate } from '../submission/simulate/simulate.ts'
import { matchingTraces } from '../trace/trace-search.ts'
import { actorOf } from '../writes/audit.ts'
import { transact } from '../writes/transact.ts'

export interface PromotionOptions extends Core {
  readonly destinations: Pick<Destinations, 'get'>
  readonly probes: Pick<Probes, 'test'>
  readonly sendingDomains: Pick<SendingDomains, 'list' | 'recordsFor'>
  readonly inspectTests: Pick<InspectTests, 'get'>
  readonly simulate: Pick<Simulate, 'again'>
}

const maxDomains = 20
const maxMessages = 20

export class Promotions {
  readonly #options: PromotionOptions

  constructor(options: PromotionOptions) {
    this.#options = options
  }

  /** What was found last; null before that. Throws `not_found` for a destination out of reach. */
  async evidence(principal: Principal, id: string): Promise<DestinationEvidence | null> {
    await this.#options.destinations.get(principal, id)
    const { organizationId } = principal
    return (await this.#options.database.get(destinationEvidence, { organizationId }, id))?.record ?? null
  }

  /**
   * Probes the destination, compares the records of the sending domains for its provider, and decides about the last captured messages
   * as if it were live. Throws `not_found` for a destination or test out of reach, `conflict` for a test without a score.
   */
  async collect(
    principal: Principal,
    id: string,
    { inspectTestId }: { readonly inspectTestId?: string | undefined },
  ): Promise<DestinationEvidence> {
    const { database, destinations, probes, clock, audit } = this.#options
    const destination = await destinations.get(principal, id)
    const inspect = inspectTestId === undefined ? null : await this.#inspected(principal, inspectTestId)
    const [{ ok, steps }, domains, dryRun] = await Promise.all([
      probes.test(principal, id),
      this.#domains(principal, id),
      this.#dryRun(principal, destination),
    ])
    const { organizationId, credentialId } = principal
    const { projectId, mode } = destination
    const record: DestinationEvidence = {
      ...{ id, projectId, at: clock.now(), by: credentialId, mode, domains, dryRun, inspect },
      probe: { ok, steps: steps.map(({ step, ok: isOk, detail, milliseconds }) => ({ step, ok: isOk, detail, milliseconds })) },
    }
    await transact(database, { organizationId }, async (change) => {
      const before = await change.get(destinationEvidence, id)
      if (before) change.replace(destinationEvidence, organizationId, before, record)
      else change.insert(destinationEvidence, organizationId, record)
      const details = { probe: ok, messages: dryRun.messages, relayed: dryRun.relayed, score: inspect?.score ?? null }
      audit.record(change, {
        organizationId,
        actor: actorOf(principal),
        act: 'destination.evidence_collected',
        target: id,
        projectId,
        details,
      })
    })
    return record
  }

  async #inspected(principal: Principal, testId: string): Promise<DestinationEvidence['inspect']> {
    const { test } = await this.#options.inspectTests.get(principal, testId)
    if (!test.result)
      throw new Refusal(
        'conflict',
        'inspect_test_id: this deliverability test has no score yet; send a mail to its address, and wait for the report.',
      )
    const { score, grade } = test.result
    return { testId, score, grade, at: test.mail?.session.receivedAt ?? test.createdAt }
  }

  async #domains(principal: Principal, destinationId: string): Promise<DestinationEvidence['domains']> {
    const { sendingDomains } = this.#options
    const { rows } = await sendingDomains.list(principal, { limit: maxDomains, cursor: undefined })
    return Promise.all(
      rows.map(async ({ domain: { id, domain } }) => {
        const records = await sendingDomains.recordsFor(principal, id, destinationId)
        return {
          id,
          domain,
          records: records.map(({ purpose, required, check }) => ({ purpose, required, verdict: check?.verdict ?? null })),
        }
      }),
    )
  }

  /** By the decision of a send, with the destination live. */
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
