/** Virtual inboxes: create, update, move and delete. Spec "Virtual inbox". */
import { isDeepStrictEqual } from 'node:util'
import { addressProblem } from '#config/mail/address-problem.ts'
import type { Core } from '../../core.ts'
import { owningProject } from '../../access/principal/project-choice.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { invalid, Refusal } from '../../refusals.ts'
import { checkTargetUrl, keptUrl, shownUrl, type TargetGuards } from '../../webhooks/endpoints/target-url.ts'
import { inboxes, notifyContext, type Inbox } from '../capture.ts'
import { lastNotifyKey } from '../notify/last-notify.ts'
import { parsePattern } from '../inbox-pattern.ts'

export interface InboxSettingsOptions extends TargetGuards, Core {}

/** Changes of an inbox; null removes a value. */
export interface InboxChanges {
  readonly name?: string | undefined
  readonly notifyWebhookUrl?: string | null | undefined
  readonly retentionDays?: number | null | undefined
  readonly projectId?: string | undefined
}

export interface InboxRequest extends InboxChanges {
  readonly addressPattern: string
}

/** Maximum per project. */
const maxInboxes = 1000
const patternProblem = 'must be * for every address, @example.ch for a domain, or one address'

export class InboxSettings {
  readonly #options: InboxSettingsOptions

  constructor(options: InboxSettingsOptions) {
    this.#options = options
  }

  /** Throws `validation_failed` for an invalid pattern or URL, and `conflict` if the project has an inbox with this pattern. */
  async create(principal: Principal, request: InboxRequest): Promise<Inbox> {
    const { database, writes, policies, clock, secrets } = this.#options
    const { organizationId } = principal
    const addressPattern = parsePattern(request.addressPattern)
    if (addressPattern === undefined)
      throw invalid([{ path: 'address_pattern', message: addressProblem(request.addressPattern) ?? patternProblem }])
    const notifyWebhookUrl = await this.#checked(request.notifyWebhookUrl)
    return writes.runAudited(principal, 'inbox.created', async (change) => {
      const projectId = owningProject(principal, (await policies.of(organizationId)).projects, request.projectId)
      await this.#requireFree(organizationId, projectId, addressPattern)
      const { length } = await database.all(inboxes, { organizationId, projectId, bound: true })
      if (length >= maxInboxes) throw new Refusal('conflict', `A project can have at most ${maxInboxes} virtual inboxes; delete one first.`)
      const now = clock.now()
      const id = database.newId('inb', now)
      const inbox: Inbox = {
        id,
        projectId,
        addressPattern,
        name: request.name ?? addressPattern,
        ...(notifyWebhookUrl && { notifyWebhookUrl: keptUrl(secrets, notifyWebhookUrl, notifyContext(id)) }),
        ...(request.retentionDays && { retentionDays: request.retentionDays }),
        createdAt: now,
      }
      change.insert(inboxes, organizationId, inbox)
      return inbox
    })
  }

  /** Applies the changes in at most one write. In another project, the inbox shows that project's messages. Throws like `create`. */
  async update(principal: Principal, id: string, changes: InboxChanges): Promise<Inbox> {
    const { writes, policies, secrets } = this.#options
    const { organizationId } = principal
    const { record: seen } = await this.#stored(principal, id)
    const isShown = seen.notifyWebhookUrl !== undefined && changes.notifyWebhookUrl === shownUrl(seen.notifyWebhookUrl)
    const notifyWebhookUrl = isShown ? undefined : await this.#checked(changes.notifyWebhookUrl)
    const onlyMoves = Object.entries(changes).every(([name, value]) => value === undefined || name === 'projectId')
    return writes.runAudited(principal, onlyMoves ? 'inbox.moved' : 'inbox.updated', async (change) => {
      const { projects } = await policies.of(organizationId)
      const projectId = changes.projectId === undefined ? undefined : owningProject(principal, projects, changes.projectId)
      const stored = await this.#stored(principal, id)
      const { record } = stored
      if (projectId !== undefined && projectId !== record.projectId)
        await this.#requireFree(organizationId, projectId, record.addressPattern)
      const { notifyWebhookUrl: urlBefore, retentionDays: daysBefore, ...rest } = record
      const url =
        notifyWebhookUrl === undefined ? urlBefore : notifyWebhookUrl && keptUrl(secrets, notifyWebhookUrl, notifyContext(id), urlBefore)
      const days = changes.retentionDays === undefined ? daysBefore : changes.retentionDays
      const next: Inbox = {
        ...rest,
        projectId: projectId ?? record.projectId,
        name: changes.name ?? record.name,
        ...(url && { notifyWebhookUrl: url }),
        ...(days && { retentionDays: days }),
      }
      if (isDeepStrictEqual(next, record)) return record
      change.replace(inboxes, organizationId, stored, next)
      if (next.notifyWebhookUrl === undefined) change.delete(lastNotifyKey(organizationId, id))
      return next
    })
  }

  /** Deletes the inbox, not its captured messages. Idempotent. */
  async remove(principal: Principal, id: string): Promise<void> {
    const { writes, database } = this.#options
    await writes.runAudited(principal, 'inbox.deleted', async (change) => {
      const stored = await database.get(inboxes, principal, id)
      if (stored) change.remove(inboxes, principal.organizationId, stored).delete(lastNotifyKey(principal.organizationId, id))
    })
  }

  /** Checks the URL outside the settings write, because the DNS lookup may take time. */
  async #checked(url: string | null | undefined): Promise<string | null | undefined> {
    return typeof url === 'string' ? checkTargetUrl(url, this.#options, 'notify_webhook_url') : url
  }

  async #requireFree(organizationId: string, projectId: string, pattern: string): Promise<void> {
    const other = await this.#options.database.find(inboxes, { organizationId }, 'pattern', [projectId, pattern])
    if (!other) return
    const message = `Another inbox of that project has the pattern ${pattern}; change its pattern or delete it first.`
    throw new Refusal('conflict', message, { details: { inbox_id: other.record.id } })
  }

  async #stored(principal: Principal, id: string) {
    const stored = await this.#options.database.get(inboxes, principal, id)
    if (!stored) throw new Refusal('not_found', 'No virtual inbox has this id.')
    return stored
  }
}
