/** Tests whether an SMTP credential could send now, without sending: runs each check and queries the provider. */
import { httpProviders } from '#config/mail/providers.ts'
import type { Core } from '../../core.ts'
import { isOpenTo } from '../../access/principal/project-choice.ts'
import type { SmtpCredential } from '../../access/smtp-credential.ts'
import type { SmtpCredentials } from '../../access/smtp-credentials.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { toTarget } from '../../delivery/attempt/transport-target.ts'
import type { Transport } from '../../delivery/transport.ts'
import { addressOf, type Destination } from '../../routing/destination.ts'
import { chooseInEnvironment, type DestinationHealth } from '../../routing/match/environment.ts'
import type { Policy } from '../../routing/policy/policy.ts'

export interface ConnectionTestOptions extends Core {
  readonly credentials: SmtpCredentials
  readonly transport: Transport
  readonly health: DestinationHealth
}

/** One line of the transcript. */
export interface ConnectionCheck {
  readonly check: string
  readonly ok: boolean
  readonly detail: string
  readonly milliseconds?: number | undefined
}

/** Timeout of the provider test. */
const probeMs = 20_000

/** Checks whether the provider receives the submitted octets unchanged. */
function forwardsVerbatim({ provider }: Destination, { clickTrackingEnabled, openTrackingEnabled }: SmtpCredential): ConnectionCheck {
  const check = 'adapter_forwards_verbatim'
  const but = clickTrackingEnabled || openTrackingEnabled ? ' except for tracking changes in its HTML,' : ''
  const how = `byte for byte as submitted,${but} below a Received field of this service`
  if (provider === 'smtp') return { check, ok: true, detail: `The provider smtp relays the message ${how}.` }
  const { title, takes } = httpProviders[provider]
  if (takes === 'mime') return { check, ok: true, detail: `${title} receives the message ${how}.` }
  return {
    check,
    ok: false,
    detail: `${title} does not accept MIME: it receives sender, recipients, texts and attachments, and composes its own message.`,
  }
}

export class ConnectionTest {
  readonly #options: ConnectionTestOptions

  constructor(options: ConnectionTestOptions) {
    this.#options = options
  }

  /** Returns the transcript for an SMTP credential. Spec "SMTP credentials", test-connection. */
  async ofCredential(principal: Principal, id: string, signal: AbortSignal): Promise<readonly ConnectionCheck[]> {
    const credential = await this.#options.credentials.get(principal, id)
    const policy = await this.#options.policies.of(principal.organizationId)
    const { destinations, orgDefault, projects } = policy
    const { defaultDestinationId, projectId } = credential
    const environment = credential.environment ?? projects.get(projectId)?.environment ?? null
    const chosen = environment === null ? undefined : chooseInEnvironment(destinations, projectId, environment, this.#options.health)
    const byDefault = credential.environment == null ? (chosen?.destination ?? orgDefault) : chosen?.destination
    const named = defaultDestinationId === null ? byDefault : destinations.get(defaultDestinationId)
    const destination = named && isOpenTo(named, credential.projectId) ? named : undefined
    const checks = [this.#active(credential), resolves(credential, destination, policy)]
    if (!destination) return checks
    const probe = destination.mode === 'live' ? await this.#probe(destination, signal) : []
    return [...checks, forwardsVerbatim(destination, credential), ...probe]
  }

  #active({ expiresAt, username }: SmtpCredential): ConnectionCheck {
    if (expiresAt === null) return { check: 'credential_active', ok: true, detail: `${username} is active and does not expire.` }
    const until = new Date(expiresAt).toISOString()
    const ok = expiresAt > this.#options.clock.now()
    return { check: 'credential_active', ok, detail: ok ? `${username} is active until ${until}.` : `${username} expired at ${until}.` }
  }

  async #probe(destination: Destination, signal: AbortSignal): Promise<ConnectionCheck[]> {
    const { secrets, transport } = this.#options
    const target = toTarget(destination, secrets)
    if (!target) return [{ check: 'provider_auth', ok: false, detail: 'A stored secret cannot be decrypted; set it again.' }]
    const steps = await transport.probe(target, AbortSignal.any([signal, AbortSignal.timeout(probeMs)]))
    return steps.map(({ step, ok, detail, milliseconds }) => ({ check: `provider_${step}`, ok, detail, milliseconds }))
  }
}

function resolves(
  { defaultDestinationId, environment, projectId }: SmtpCredential,
  destination: Destination | undefined,
  { projects, rules }: Policy,
): ConnectionCheck {
  const check = 'destination_resolves'
  if (!destination && environment != null)
    return { check, ok: false, detail: `No destination has the environment ${environment} any longer; set another one.` }
  if (!destination && defaultDestinationId === null) {
    const captures = projects.get(projectId)?.noRoutePolicy === 'capture'
    const hasRules = (rules.get(projectId)?.length ?? 0) > 0
    const otherwise = captures ? 'captured' : 'refused with 550 5.4.4'
    const detail = `No default destination is set, so routing rules choose; mail without a matching rule would be ${otherwise}.`
    return { check, ok: captures || hasRules, detail }
  }
  if (!destination) return { check, ok: false, detail: 'The default destination no longer exists; set another one.' }
  const fate = destination.mode === 'live' ? 'relayed' : 'captured, because it is in sandbox mode'
  if (environment != null) {
    const detail = `Of the environment ${environment}, ${destination.name} (${addressOf(destination)}) receives mail now; a message would be ${fate}.`
    return { check, ok: true, detail }
  }
  const whose = defaultDestinationId === null ? 'Where no routing rule matches: ' : ''
  return { check, ok: true, detail: `${whose}${destination.name} (${addressOf(destination)}); a message would be ${fate}.` }
}
