/** Releases a captured message: sends it unchanged to its recipients through a live destination, once. */
import { Draft, readContent } from '#store/content.ts'
import { newTraceId } from '#store/ids.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Core } from '../../core.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { isOpenTo } from '../../access/principal/project-choice.ts'
import { foldAddress } from '../../addresses.ts'
import type { Inboxes } from '../../capture/inboxes/inboxes.ts'
import type { Unsubscribes } from '../../feedback/suppression/unsubscribes.ts'
import { invalid, Refusal } from '../../refusals.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { refuseUnseen } from '../../access/principal/agent-approval.ts'
import type { Accept } from '../accept/accept.ts'
import { labelsOf } from '../labels.ts'
import type { Acceptance } from '../submission.ts'

export interface ReleasesOptions extends Core {
  readonly accept: Pick<Accept, 'accept'>
  readonly inboxes: Pick<Inboxes, 'found'>
  readonly unsubscribes: Pick<Unsubscribes, 'reach'>
}

/** Maximum tries of a release, because readers of addresses in bodies may write the capture at the same time. */
const maxTries = 4

export class Releases {
  readonly #options: ReleasesOptions

  constructor(options: ReleasesOptions) {
    this.#options = options
  }

  /**
   * Sends the message through this destination under all rules of a send: budget, plan, suppressions. A repeated call returns the first
   * release. Throws `not_found`, `validation_failed` for a destination outside the project, the refusals of a send, and `conflict` if the
   * message would not be relayed or was released to another destination.
   */
  async release(principal: Principal, inboxId: string, captureId: string, destinationId: string): Promise<Acceptance> {
    for (let tries = 1; ; tries++) {
      const { trace } = await this.#options.inboxes.found(principal, inboxId, captureId)
      const stored = await this.#options.database.get(traces, principal, trace.id)
      if (!stored?.record.capture) throw new Refusal('not_found', 'No message of this inbox has this id.')
      const earlier = releasedAs(stored.record, destinationId)
      if (earlier) return earlier
      try {
        return await this.#send(principal, stored, destinationId)
      } catch (error) {
        const now = await this.#options.database.get(traces, principal, trace.id)
        if (tries >= maxTries || now?.version === stored.version) throw error
      }
    }
  }

  async #send(principal: Principal, stored: Stored<Trace>, destinationId: string): Promise<Acceptance> {
    const { database, policies, accept, unsubscribes } = this.#options
    const { record } = stored
    const { organizationId } = principal
    const policy = await policies.of(organizationId)
    refuseUnseen(policy, principal)
    const destination = policy.destinations.get(destinationId)
    if (!destination || !isOpenTo(destination, record.projectId))
      throw invalid([{ path: 'destination_id', message: 'no destination of this project has this id' }])
    const traceId = newTraceId()
    const draft = await copied(new Draft(database, organizationId, traceId), readContent(database, organizationId, record.content))
    return accept.accept({
      ...{ door: 'rest', principal, projectId: record.projectId, traceId, submittedBy: principal.credentialId },
      mailFrom: record.mailFrom,
      rcptTo: record.recipients.map(({ address }) => address),
      facts: factsOf(record),
      draft,
      destinationId,
      template: record.template,
      labels: labelsOf(record),
      ...(record.hasUnsubscribeLink && { unsubscribeLink: unsubscribes.reach }),
      list: record.list,
      release: stored,
    })
  }
}

/** Returns the first release, or undefined. */
function releasedAs({ capture }: Trace, destinationId: string): Acceptance | undefined {
  const { released } = capture ?? {}
  if (!released) return undefined
  if (released.destinationId === destinationId) return { traceId: released.traceId, outcome: 'relayed', repeated: true }
  const message = `The message was released to another destination before, as the trace ${released.traceId}; look there, or send a new message.`
  throw new Refusal('conflict', message, { nextAction: 'read_trace', details: { trace_id: released.traceId } })
}

/** Facts of the captured message; Bcc recipients stay hidden. */
const factsOf = (trace: Trace) => ({
  prefix: trace.prefix,
  subject: trace.subject,
  messageId: trace.messageId,
  headerFrom: trace.headerFrom,
  headerAddresses: trace.recipients.flatMap(({ address, bcc }) => (bcc ? [] : [foldAddress(address)])),
  eightBit: trace.eightBit,
  hasAttachment: trace.hasAttachment,
  smtpUtf8: trace.smtputf8,
})

async function copied(draft: Draft, pieces: AsyncIterable<Uint8Array>): Promise<Draft> {
  try {
    for await (const piece of pieces) await draft.write(piece)
    return draft
  } catch (error) {
    await draft.discard()
    throw error
  }
}
