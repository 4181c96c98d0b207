/** Manages webhook endpoints and their secrets. Spec "POST /v1/webhooks". */
import type { Page } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Core } from '../../core.ts'
import { listReachable, type List, type OfProject, type PageQuery } from '../../access/principal/lists.ts'
import { owningProject } from '../../access/principal/project-choice.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { Refusal } from '../../refusals.ts'
import type { SecretBox } from '../../access/secret-box.ts'
import { resumedWork } from '../delivery.ts'
import { keyOf, type WebhookFormat } from '../formats/format-names.ts'
import { announceSubscription, certificateIdOf, confirmed } from '../formats/subscription.ts'
import { scheduleCleanup } from '../sending/cleanup.ts'
import { secretContext, webhookEndpoints, type WebhookEndpoint, type WebhookEventType } from '../endpoint.ts'
import { newWebhookSecret } from '../sending/signature.ts'
import { checkHeaders, hasKeyFor, newKey, openHeaders, sealedHeaders, sealedKey, splitLogin, type KeyOptions } from './endpoint-keys.ts'
import { checkTargetUrl, keptUrl, shownUrl, type TargetGuards } from './target-url.ts'
import { changeSetting, must } from '../../writes/transact.ts'

export interface WebhookOptions extends TargetGuards, Core, Pick<KeyOptions, 'makeCertificate'> {}

export interface WebhookRequest {
  readonly name: string
  readonly targetUrl: string
  /** Empty means every event. */
  readonly eventTypes: readonly WebhookEventType[]
  readonly projectId: string
  readonly paused: boolean
  readonly format: WebhookFormat
  /** Custom header fields of every request. Replaces all existing fields. */
  readonly headers: Readonly<Record<string, string>>
}

/** Fields that are optional when an endpoint is created. */
type Optional = 'projectId' | 'paused' | 'format' | 'headers'
type Given = { readonly [Key in 'format' | 'headers']: WebhookRequest[Key] | undefined }

/** An endpoint with its secret, which only this response contains. */
export interface EndpointWithSecret {
  readonly endpoint: WebhookEndpoint
  readonly secret: string
}

/** Maximum number of endpoints per project; each event adds a row per endpoint to its write. */
const maxEndpoints = 20

export class Webhooks implements List<OfProject, WebhookEndpoint> {
  readonly #options: WebhookOptions

  constructor(options: WebhookOptions) {
    this.#options = options
  }

  /** Creates an endpoint. Throws `validation_failed` for a forbidden target URL, and `conflict` at the limit of endpoints per project. */
  async create(
    principal: Principal,
    request: Omit<WebhookRequest, Optional> & { readonly [Key in Optional]?: WebhookRequest[Key] | undefined },
  ): Promise<EndpointWithSecret> {
    const { database, writes, policies, secrets, clock } = this.#options
    // outside the settings lock, because the DNS look-up and key generation can be slow
    const { targetUrl, headers } = await this.#target(request, {})
    const secret = newWebhookSecret()
    const key = await newKey(request.format, this.#options)
    return writes.runAudited(principal, 'webhook_endpoint.created', async (change) => {
      const { projects } = await policies.of(principal.organizationId)
      const projectId = owningProject(principal, projects, request.projectId)
      await this.#requireRoom(principal.organizationId, projectId)
      const now = clock.now()
      const id = database.newId('whk', now)
      const { name, eventTypes, format } = request
      const sealedSecret = secrets.seal(secret, secretContext(id))
      const pausedAt = request.paused === true && { pausedAt: now }
      const keptTarget = keptUrl(secrets, targetUrl, secretContext(id))
      const asked = { projectId, name, targetUrl: keptTarget, eventTypes: distinct(eventTypes) }
      const endpoint: WebhookEndpoint = {
        ...{ id, ...asked, sealedSecret, ...pausedAt, createdAt: now, updatedAt: now },
        ...(format !== undefined && format !== 'native' && { format }),
        ...(key && { signing: sealedKey(key, id, secrets) }),
        ...withHeaders(headers, id, secrets),
      }
      change.insert(webhookEndpoints, principal.organizationId, endpoint)
      if (format === 'ses') announceSubscription(database, change, secrets, principal.organizationId, endpoint)
      return { endpoint, secret }
    })
  }

  /** Lists endpoints, newest first. Throws `not_found` for a project outside the caller's reach. */
  list(principal: Principal, query: PageQuery & OfProject): Promise<Page<WebhookEndpoint>> {
    return listReachable(this.#options, webhookEndpoints, principal, query)
  }

  /** Throws `not_found` for missing and foreign ids. */
  async get(principal: Principal, id: string): Promise<WebhookEndpoint> {
    return (await this.#stored(principal, id)).record
  }

  /**
   * Changes the given fields. A new project moves the endpoint; pending deliveries are still sent to it. While paused, no attempt starts;
   * events stay pending until the endpoint is resumed. An attempt in progress finishes. Throws the errors of `create`.
   */
  async update(
    principal: Principal,
    id: string,
    changes: { readonly [Key in keyof WebhookRequest]?: WebhookRequest[Key] | undefined },
  ): Promise<WebhookEndpoint> {
    const { database, writes, policies, secrets } = this.#options
    const { record: seen } = await this.#stored(principal, id)
    const given = changes.targetUrl === shownUrl(seen.targetUrl) ? undefined : changes.targetUrl
    const format = changes.format ?? seen.format
    // drops header fields when the origin changes: a member who moves the endpoint must not learn them
    const kept = given !== undefined && isElsewhere(given, seen) ? {} : undefined
    const { targetUrl, headers = kept } =
      given === undefined
        ? { targetUrl: undefined, headers: changes.headers && checkHeaders(changes.headers) }
        : await this.#target({ ...changes, targetUrl: given, format }, kept ?? openHeaders(seen, secrets))
    const key = hasKeyFor(seen, format) ? undefined : await newKey(format, this.#options)
    return writes.runAudited(principal, 'webhook_endpoint.updated', async (change) => {
      const { projects } = await policies.of(principal.organizationId)
      const projectId = changes.projectId === undefined ? undefined : owningProject(principal, projects, changes.projectId)
      const { record: before } = await this.#stored(principal, id)
      if (projectId !== undefined && projectId !== before.projectId) await this.#requireRoom(principal.organizationId, projectId)
      if (changes.paused === false && before.pausedAt !== undefined) change.schedule(resumedWork, id)
      const after = await changeSetting(
        this.#options,
        { change, kind: webhookEndpoints, reach: principal, id },
        ({ pausedAt, ...record }) => ({
          ...inFormat(record, changes.format ?? record.format, key && sealedKey(key, id, secrets)),
          ...((changes.paused ?? pausedAt !== undefined) && { pausedAt: pausedAt ?? this.#options.clock.now() }),
          projectId: projectId ?? record.projectId,
          name: changes.name ?? record.name,
          targetUrl: targetUrl === undefined ? record.targetUrl : keptUrl(secrets, targetUrl, secretContext(id), record.targetUrl),
          eventTypes: distinct(changes.eventTypes ?? record.eventTypes),
          ...withHeaders(headers, id, secrets),
        }),
      )
      if (after.format === 'ses' && (before.format !== 'ses' || before.targetUrl !== after.targetUrl))
        announceSubscription(database, change, secrets, principal.organizationId, after)
      return after
    })
  }

  /** Replaces the secret, and the key pair if the format has one. All later attempts use them, including attempts of earlier events. */
  async rotate(principal: Principal, id: string): Promise<EndpointWithSecret> {
    const secret = newWebhookSecret()
    const { secrets } = this.#options
    const sealedSecret = secrets.seal(secret, secretContext(id))
    const { format } = await this.get(principal, id)
    const key = await newKey(format, this.#options)
    const endpoint = await this.#options.writes.runAudited(principal, 'webhook_endpoint.secret_rotated', (change) =>
      changeSetting(this.#options, { change, kind: webhookEndpoints, reach: principal, id }, (record) => ({
        ...inFormat(record, record.format, key && sealedKey(key, id, secrets)),
        sealedSecret,
      })),
    )
    return { endpoint, secret }
  }

  /** Deletes an endpoint; its deliveries are removed afterwards. Does nothing if it is missing. */
  async remove(principal: Principal, id: string): Promise<void> {
    const { writes, database } = this.#options
    await writes.runAudited(principal, 'webhook_endpoint.deleted', async (change) => {
      const stored = await database.get(webhookEndpoints, principal, id)
      if (!stored) return
      scheduleCleanup(change.remove(webhookEndpoints, principal.organizationId, stored), principal.organizationId, id)
      if (stored.record.pausedAt !== undefined) change.schedule(resumedWork, id) // the dispatcher drops its queue
    })
  }

  /** Returns the certificate with this file name, in PEM, without authentication. Throws `not_found`. */
  async certificate(file: string): Promise<string> {
    const id = certificateIdOf(file)
    const found = id === undefined ? undefined : await this.#options.database.lookup(webhookEndpoints, 'certificate', [id])
    if (!found?.record.signing) throw new Refusal('not_found', 'No webhook endpoint signs with this certificate.')
    return found.record.signing.verifier
  }

  /** Returns the response to an SNS confirmation. Throws `not_found` for an unknown topic or token. */
  confirmed(topic: string, token: string): string {
    const answer = confirmed(this.#options.secrets, topic, token)
    if (answer === undefined) throw new Refusal('not_found', 'No webhook endpoint has this topic.')
    return answer
  }

  /** Returns the checked target URL and header fields. `headers` is undefined if they do not change. */
  async #target(
    { targetUrl: given, format = 'native', headers }: Pick<WebhookRequest, 'targetUrl'> & Partial<Given>,
    before: WebhookRequest['headers'],
  ): Promise<{ readonly targetUrl: string; readonly headers: WebhookRequest['headers'] | undefined }> {
    const checked = headers && checkHeaders(headers)
    const split = format === 'native' ? { targetUrl: given } : splitLogin(given)
    const targetUrl = await checkTargetUrl(split.targetUrl, this.#options)
    return { targetUrl, headers: split.headers ? { ...(checked ?? before), ...split.headers } : checked }
  }

  async #requireRoom(organizationId: string, projectId: string): Promise<void> {
    const all = await this.#options.database.all(webhookEndpoints, { organizationId, projectId, bound: true })
    if (all.length < maxEndpoints) return
    const message = `A project can have at most ${maxEndpoints} webhook endpoints; delete one first.`
    throw new Refusal('conflict', message, { nextAction: 'delete_endpoint' })
  }

  #stored(principal: Principal, id: string): Promise<Stored<WebhookEndpoint>> {
    return must(this.#options.database, webhookEndpoints, principal, id)
  }
}

const distinct = <T>(values: readonly T[]): readonly T[] => [...new Set(values)]

const isElsewhere = (given: string, { targetUrl }: WebhookEndpoint): boolean => URL.parse(given)?.origin !== new URL(targetUrl).origin

/** Returns the given header fields, which replace all earlier fields. */
const withHeaders = (headers: WebhookRequest['headers'] | undefined, id: string, secrets: SecretBox): Pick<WebhookEndpoint, 'headers'> =>
  headers === undefined ? {} : { headers: sealedHeaders(headers, id, secrets) }

/**
 * Returns the endpoint with the format, and with a key pair if the format needs one. Throws `conflict` after a concurrent change of the
 * format.
 */
function inFormat(
  { format: _format, signing: before, ...record }: WebhookEndpoint,
  format: WebhookFormat | undefined,
  made: WebhookEndpoint['signing'],
): WebhookEndpoint {
  const signing = made ?? before
  const next = { ...record, ...(format !== undefined && format !== 'native' && { format }) }
  if (keyOf(format) === undefined) return next
  const signed = { ...next, signing }
  if (hasKeyFor(signed, format)) return signed
  throw new Refusal('conflict', 'The webhook endpoint was changed at the same time; send the request again.')
}
