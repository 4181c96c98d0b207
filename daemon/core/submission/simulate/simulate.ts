/** Simulates a described send or a stored trace with the current settings. Writes nothing. Spec "Routing rule". */
import { pack } from '#store/tuple.ts'
import type { Core } from '../../core.ts'
import { owningProject } from '../../access/principal/project-choice.ts'
import type { Principal } from '../../access/principal/principal.ts'
import type { SmtpCredential } from '../../access/smtp-credential.ts'
import { primaryOf, type FailoverHealth } from '../../delivery/attempt/failover.ts'
import { listOf } from '../../feedback/suppression/opt-out.ts'
import { suppressionsAgainst } from '../../feedback/suppression/suppressed-recipients.ts'
import { invalid, Refusal } from '../../refusals.ts'
import type { Destination } from '../../routing/destination.ts'
import type { Policy } from '../../routing/policy/policy.ts'
import { minuteOf, rateCounter } from '../../tenancy/counters.ts'
import { suppressionSeenBy } from '../../trace/timeline/outside-project.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { assertAllowedDomain, currentCredential } from '../doors/sender-rules.ts'
import { defaultFrom } from '../doors/send-messages.ts'
import { attempt, takeWalk, type Ground, type Sketch, type Walk } from './simulation.ts'

export interface SimulateOptions extends Core {
  readonly health: FailoverHealth
  readonly maxRecipients: number
  readonly maxMessageBytes: number
}

/** A send over REST, or over SMTP with a credential. */
export interface SimulationRequest {
  /** An addr-spec. If undefined, the From of a destination applies, as in a REST send. */
  readonly from: string | undefined
  readonly rcptTo: readonly string[]
  readonly projectId: string | undefined
  readonly destinationId: string | undefined
  readonly environment?: string | undefined
  readonly smtpCredentialId: string | undefined
  /** Octets of the message. */
  readonly size: number
  readonly attachments: number
}

export interface Simulation extends Walk {
  readonly projectId: string
  /** Destination that relays the message, or would relay it. */
  readonly destination: Destination | undefined
}

/** A field with a different result. */
export interface Difference {
  readonly field: 'outcome' | 'route_by' | 'rule_id' | 'destination_id'
  readonly earlier: string | null
  readonly now: string | null
}

export interface TraceSimulation extends Simulation {
  readonly trace: Trace
  readonly differences: readonly Difference[]
}

/** Overrides of the current time and state. */
export interface OtherGround {
  /** Time at which the limits are evaluated. */
  readonly nowMs?: number
  readonly counter?: Ground['counter']
  readonly health?: FailoverHealth
}

export class Simulate {
  readonly #options: SimulateOptions

  constructor(options: SimulateOptions) {
    this.#options = options
  }

  /** Throws `not_found` for a project or credential that the caller cannot access. Refusals of the send are part of the result. */
  async ofRequest(principal: Principal, request: SimulationRequest): Promise<Simulation> {
    const { policies, health } = this.#options
    const policy = await policies.of(principal.organizationId)
    const walk: Walk = { steps: [] }
    if (request.smtpCredentialId !== undefined) {
      const credential = reachableCredential(policy, principal, request.smtpCredentialId, request.projectId)
      const mailFrom = request.from ?? ''
      return this.#bySmtp(walk, principal, policy, credential.projectId, {
        ...request,
        credentialId: credential.id,
        mailFrom,
        headerFrom: mailFrom,
      })
    }
    const projectId = owningProject(principal, policy.projects, request.projectId)
    const from = request.from ?? attempt(walk, 'sender', () => defaultFrom(policy, projectId, request, health).address)
    if (from === undefined) return ended(walk, policy, projectId)
    if (request.from === undefined)
      walk.steps.push({
        ...{ step: 'sender', result: 'passed', address: from },
        message: `The message has no From; it gets the From of a destination, ${from}.`,
      })
    return this.#walk(walk, policy, {
      ...draftOf(request, { principal, projectId, door: 'rest', submittedBy: principal.credentialId }),
      mailFrom: from,
      facts: { headerFrom: from },
      destinationId: request.destinationId,
      environment: request.environment,
    })
  }

  /** Simulates a stored message with the current settings. Throws `not_found` for unknown ids and for ids of other organizations. */
  async ofTrace(principal: Principal, traceId: string): Promise<TraceSimulation> {
    const { database, policies } = this.#options
    const trace = (await database.get(traces, principal, traceId))?.record
    if (!trace) throw new Refusal('not_found', 'No trace has this id.')
    return this.again(principal, await policies.of(principal.organizationId), trace)
  }

  /** Simulates a trace with other settings, and with the overrides in `ground`. */
  async again(principal: Principal, policy: Policy, trace: Trace, ground: OtherGround = {}): Promise<TraceSimulation> {
    const now = await this.#again(principal, policy, trace, ground)
    return { ...now, trace, differences: differencesOf(trace, now) }
  }

  #again(principal: Principal, policy: Policy, trace: Trace, ground: OtherGround): Promise<Simulation> {
    const { projectId, mailFrom, headerFrom, submittedBy, content, route } = trace
    const rcptTo = trace.recipients.map(({ address }) => address)
    const message = { rcptTo, size: content.size, attachments: trace.hasAttachment ? 1 : 0 }
    const walk: Walk = { steps: [] }
    if (trace.door === 'smtp')
      return this.#bySmtp(walk, principal, policy, projectId, { ...message, credentialId: submittedBy, mailFrom, headerFrom, ground })
    const named = route.by === 'request'
    const environment = named ? route.environment : undefined
    if (named && environment === undefined && trace.destinationId === null) {
      const text =
        'The destination of the request was not recorded, because an anonymous project captured the message; the rules are evaluated instead.'
      walk.steps.push({ step: 'named_destination', result: 'passed', message: text })
    }
    return this.#walk(
      walk,
      policy,
      {
        ...draftOf(message, { principal, projectId, door: trace.door, submittedBy }),
        mailFrom,
        facts: { headerFrom },
        destinationId: named && environment === undefined && trace.destinationId !== null ? primaryOf(trace) : undefined,
        environment,
        list: listOf(trace),
      },
      ground,
    )
  }

  async #bySmtp(walk: Walk, principal: Principal, policy: Policy, projectId: string, message: SmtpMessage): Promise<Simulation> {
    const { clock, database, maxMessageBytes } = this.#options
    const nowMs = clock.now()
    const credential = attempt(walk, 'smtp_credential', () => checkedCredential(policy, message, nowMs))
    if (!credential) return ended(walk, policy, projectId)
    walk.steps.push({
      step: 'smtp_credential',
      result: 'passed',
      message: `The SMTP credential ${credential.username} can send this message.`,
    })
    const { nowMs: sentMs = nowMs, counter = (key: Uint8Array) => database.kv.counter(key) } = message.ground ?? {}
    const before = pack(rateCounter(principal.organizationId, credential.id, minuteOf(sentMs) - 1))
    const rate = credential.maxRatePerMin ?? undefined
    const submission: Sketch = {
      ...draftOf(message, { principal, projectId, door: 'smtp', submittedBy: credential.id }),
      mailFrom: message.mailFrom,
      facts: { headerFrom: message.headerFrom },
      destinationId: credential.defaultDestinationId ?? undefined,
      environment: credential.environment ?? undefined,
      ratePerMinute: rate,
    }
    return this.#walk(walk, policy, submission, {
      maxMessageBytes: Math.min(credential.maxMessageBytes ?? Infinity, maxMessageBytes),
      previousMinute: rate === undefined ? 0 : await counter(before),
      ...message.ground,
    })
  }

  async #walk(
    walk: Walk,
    policy: Policy,
    submission: Sketch,
    { counter, health: otherHealth, ...limits }: OtherGround & { readonly maxMessageBytes?: number; readonly previousMinute?: number } = {},
  ): Promise<Simulation> {
    const { clock, database, health, maxRecipients, maxMessageBytes } = this.#options
    const project = policy.projects.get(submission.projectId)
    if (!project) throw new Refusal('not_found', 'The project of this message no longer exists.')
    await takeWalk(walk, submission, {
      policy,
      project,
      limits: { nowMs: clock.now(), maxRecipients, maxMessageBytes, previousMinute: 0, ...limits },
      counter: counter ?? ((key) => database.kv.counter(key)),
      suppressionsOf: async (addresses) => {
        const recipients = addresses.map((address) => ({ address, status: 'queued' as const }))
        const { list, mailFrom, facts, principal } = submission
        const { headerFrom } = facts
        const message = { recipients, list, mailFrom, headerFrom }
        const hits = await suppressionsAgainst(database, principal.organizationId, message, clock.now())
        return new Map([...hits].map(([address, hit]) => [address, suppressionSeenBy(principal, hit)]))
      },
      health: otherHealth ?? health,
    })
    return ended(walk, policy, project.id)
  }
}

/** An SMTP message without its content. */
interface SmtpMessage {
  readonly credentialId: string
  readonly mailFrom: string
  readonly headerFrom: string
  readonly rcptTo: readonly string[]
  readonly size: number
  readonly attachments: number
  readonly ground?: OtherGround
}

const draftOf = (
  { rcptTo, size, attachments }: Pick<SimulationRequest, 'rcptTo' | 'size' | 'attachments'>,
  who: Pick<Sketch, 'principal' | 'projectId' | 'door' | 'submittedBy'>,
) => ({ ...who, rcptTo, attachments, draft: { size } })

const ended = (walk: Walk, { destinations }: Policy, projectId: string): Simulation => ({
  ...walk,
  projectId,
  destination: walk.decision ? destinations.get(walk.decision.destinationId ?? '') : walk.route?.destination,
})

function reachableCredential(policy: Policy, principal: Principal, id: string, projectId: string | undefined): SmtpCredential {
  const credential = policy.credentials.get(id)
  if (!credential || (principal.bound && credential.projectId !== principal.projectId))
    throw new Refusal('not_found', 'smtp_credential_id: no SMTP credential has this id.')
  if (projectId !== undefined && projectId !== credential.projectId)
    throw invalid([{ path: 'project_id', message: 'is not that of the SMTP credential; leave it out' }])
  return credential
}

function checkedCredential(policy: Policy, { credentialId, mailFrom, headerFrom }: SmtpMessage, nowMs: number): SmtpCredential {
  const credential = currentCredential(policy, credentialId, nowMs)
  if (mailFrom !== '') assertAllowedDomain(credential, mailFrom, 'MAIL FROM')
  if (credential.enforceHeaderFrom) assertAllowedDomain(credential, headerFrom, 'The header From')
  return credential
}

function differencesOf(trace: Trace, { refusal, decision, route }: Simulation): Difference[] {
  const fields: readonly (readonly [Difference['field'], string | null, string | null | undefined])[] = [
    ['outcome', trace.outcome, refusal ? null : decision?.outcome],
    ['route_by', trace.route.by, route?.by],
    ['rule_id', trace.route.ruleId, route?.ruleId],
    ['destination_id', primaryOf(trace) || null, decision?.destinationId],
  ]
  return fields.flatMap(([field, earlier, now = null]) => (earlier === now ? [] : [{ field, earlier, now }]))
}
