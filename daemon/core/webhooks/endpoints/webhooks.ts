/** Webhook endpoints: making, showing, changing and deleting them, and their secrets. Spec "POST /v1/webhooks". */
import type { Page } from '#store/database.ts'
import { newId } from '#store/ids.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Core } from '../../core.ts'
import { listReachable, type List, type OfProject, type PageQuery } from '../../access/principal/lists.ts'
import { owningProject } from '../../access/principal/project-choice.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { Refusal } from '../../refusals.ts'
import { resumedWork } from '../delivery.ts'
import { scheduleCleanup } from '../sending/cleanup.ts'
import { secretContext, webhookEndpoints, type WebhookEndpoint, type WebhookEventType } from '../endpoint.ts'
import { newWebhookSecret } from '../sending/signature.ts'
import { checkTargetUrl, type TargetGuards } from './target-url.ts'
import { changeSetting, must } from '../../writes/transact.ts'

export interface WebhookOptions extends TargetGuards, Core {}

export interface WebhookRequest {
  readonly name: string
  readonly targetUrl: string
  /** Empty means every event. */
  readonly eventTypes: readonly WebhookEventType[]
  readonly projectId: string
  readonly paused: boolean
}

/** An endpoint with its secret, which is shown this once. */
export interface EndpointWithSecret {
  readonly endpoint: WebhookEndpoint
  readonly secret: string
}

/** Of a project: each event is as many rows of the write that announces it. */
const maxEndpoints = 20

export class Webhooks implements List<OfProject, WebhookEndpoint> {
  readonly #options: WebhookOptions

  constructor(options: WebhookOptions) {
    this.#options = options
  }

  /** Throws `validation_failed` for an address that may not be sent to, and `conflict` when the project has as many as it may. */
  async create(
    principal: Principal,
    request: Omit<WebhookRequest, 'projectId' | 'paused'> & {
      readonly projectId?: string | undefined
      readonly paused?: boolean | undefined
    },
  ): Promise<EndpointWithSecret> {
    const { writes, policies, secrets, clock } = this.#options
    // outside the turn of settings, as a look-up can take its time
    const targetUrl = await checkTargetUrl(request.targetUrl, this.#options)
    const secret = newWebhookSecret()
    return writes.runAudited(principal, 'webhook_endpoint.created', async (change) => {
      const { projects } = await policies.of(principal.organizationId)
      const projectId = owningProject(principal, projects, request.projectId)
      await this.#requireRoom(principal.organizationId, projectId)
      const now = clock.now()
      const id = newId('whk', now)
      const { name, eventTypes } = request
      const sealedSecret = secrets.seal(secret, secretContext(id))
      const pausedAt = request.paused === true && { pausedAt: now }
      const asked = { projectId, name, targetUrl, eventTypes: distinct(eventTypes) }
      const endpoint = { id, ...asked, sealedSecret, ...pausedAt, createdAt: now, updatedAt: now }
      change.insert(webhookEndpoints, principal.organizationId, endpoint)
      return { endpoint, secret }
    })
  }

  /** Newest first. Throws `not_found` for a project out of reach. */
  list(principal: Principal, query: PageQuery & OfProject): Promise<Page<WebhookEndpoint>> {
    return listReachable(this.#options, webhookEndpoints, principal, query)
  }

  /** Throws `not_found` alike for missing and foreign ids. */
  async get(principal: Principal, id: string): Promise<WebhookEndpoint> {
    return (await this.#stored(principal, id)).record
  }

  /**
   * Changes what is given; another project moves it there. What was announced before stays on its way to it. While it is paused
   * no attempt begins (one that is under way is finished), and events are announced and wait until it is resumed. Throws as `create` does.
   */
  async update(
    principal: Principal,
    id: string,
    changes: { readonly [Key in keyof WebhookRequest]?: WebhookRequest[Key] | undefined },
  ): Promise<WebhookEndpoint> {
    const { writes, policies } = this.#options
    await this.#stored(principal, id)
    const targetUrl = changes.targetUrl === undefined ? undefined : await checkTargetUrl(changes.targetUrl, this.#options)
    return writes.runAudited(principal, 'webhook_endpoint.updated', async (change) => {
      const { projects } = await policies.of(principal.organizationId)
      const projectId = changes.projectId === undefined ? undefined : owningProject(principal, projects, changes.projectId)
      const { record: before } = await this.#stored(principal, id)
      if (projectId !== undefined && projectId !== before.projectId) await this.#requireRoom(principal.organizationId, projectId)
      if (changes.paused === false && before.pausedAt !== undefined) change.schedule(resumedWork, id)
      return changeSetting(this.#options, { change, kind: webhookEndpoints, reach: principal, id }, ({ pausedAt, ...record }) => ({
        ...record,
        ...((changes.paused ?? pausedAt !== undefined) && { pausedAt: pausedAt ?? this.#options.clock.now() }),
        projectId: projectId ?? record.projectId,
        name: changes.name ?? record.name,
        targetUrl: targetUrl ?? record.targetUrl,
        eventTypes: distinct(changes.eventTypes ?? record.eventTypes),
      }))
    })
  }

  /** The next attempt is signed with the new secret, whatever it was announced under. */
  async rotate(principal: Principal, id: string): Promise<EndpointWithSecret> {
    const secret = newWebhookSecret()
    const sealedSecret = this.#options.secrets.seal(secret, secretContext(id))
    const endpoint = await this.#options.writes.runAudited(principal, 'webhook_endpoint.secret_rotated', (change) =>
      changeSetting(this.#options, { change, kind: webhookEndpoints, reach: principal, id }, (record) => ({ ...record, sealedSecret })),
    )
    return { endpoint, secret }
  }

  /** Nothing is sent to it any more; its deliveries go right after. Twice is the same as once. */
  async remove(principal: Principal, id: string): Promise<void> {
    const { writes, database } = this.#options
    await writes.runAudited(principal, 'webhook_endpoint.deleted', async (change) => {
      const stored = await database.get(webhookEndpoints, principal, id)
      if (!stored) return
      scheduleCleanup(change.remove(webhookEndpoints, principal.organizationId, stored), principal.organizationId, id)
      if (stored.record.pausedAt !== undefined) change.schedule(resumedWork, id) // the dispatcher forgets it
    })
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
