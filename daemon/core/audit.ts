/** The audit log: who did what to an organization's settings, written with the act itself. */
import type { Change } from '#store/change.ts'
import type { Database, Page, Reach } from '#store/database.ts'
import { newId } from '#store/ids.ts'
import { defineRecord } from '#store/record-kind.ts'
import * as z from 'zod'
import type { Clock } from './clock.ts'

export const actorKinds = ['operator', 'api_key', 'user', 'service'] as const

/** Who acted. `id` is that of the key or person; empty for the operator and the service itself. */
export interface Actor {
  readonly kind: (typeof actorKinds)[number]
  readonly id: string
}

/** One act. Never holds a secret. */
export interface AuditEntry {
  readonly id: string
  readonly at: number
  readonly actor: Actor
  /** Noun and verb, such as `organization.plan_set`. */
  readonly act: string
  /** Id of what was acted on. */
  readonly target: string
  /** The project it was about; null is the whole organization, which keys of one project do not see. */
  readonly projectId: string | null
  /** What changed; keys are wire names. */
  readonly details: Readonly<Record<string, unknown>>
}

export interface Act extends Pick<AuditEntry, 'actor' | 'act' | 'target' | 'details'> {
  readonly organizationId: string
  readonly projectId?: string | undefined
}

export const auditEntries = defineRecord<AuditEntry>({
  name: 'audit',
  schema: z.strictObject({
    id: z.string(),
    at: z.int(),
    actor: z.strictObject({ kind: z.enum(actorKinds), id: z.string() }),
    act: z.string(),
    target: z.string(),
    projectId: z.string().nullable(),
    details: z.record(z.string(), z.unknown()),
  }),
  projectOf: (entry) => entry.projectId ?? '',
})

export class Audit {
  readonly #options: { readonly database: Database; readonly clock: Clock }

  constructor(options: { readonly database: Database; readonly clock: Clock }) {
    this.#options = options
  }

  /** Adds the act to the write that carries it out, so that neither is there without the other. */
  record(change: Change, { organizationId, actor, act, target, details, projectId }: Act): void {
    const at = this.#options.clock.now()
    const entry = { id: newId('aud', at), at, actor, act, target, projectId: projectId ?? null, details }
    change.insertUnchecked(auditEntries, organizationId, entry)
  }

  /** Newest first. */
  async list(reach: Reach, page: { readonly limit: number; readonly cursor?: string | undefined }): Promise<Page<AuditEntry>> {
    const { rows, nextCursor } = await this.#options.database.list(auditEntries, reach, page)
    return { rows: rows.map(({ record }) => record), nextCursor }
  }
}
