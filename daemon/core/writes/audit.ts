/** The audit log: who did what to an organization's settings, written with the act itself. */
import { isDeepStrictEqual } from 'node:util'
import type { Change, ChangedRecord } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import type { Clock } from '../clock.ts'
import { isOpen, shownValue, wireName } from './open-fields.ts'

export const actorKinds = ['operator', 'api_key', 'user', 'agent', 'service'] as const

/** Who acted. `id` is that of the key, the person or the agent's grant; empty for the operator and the service itself. */
export interface Actor {
  readonly kind: (typeof actorKinds)[number]
  readonly id: string
  /** The IP address that they acted from, where it is known and theirs. */
  readonly address?: string | undefined
}

const schema = z.strictObject({
  id: z.string(),
  at: z.int(),
  actor: z.strictObject({ kind: z.enum(actorKinds), id: z.string() }),
  /** Of the actor; absent in entries of before 2026-11-23, and where no request of theirs made it. */
  address: z.string().optional(),
  /** Noun and verb, such as `organization.plan_set`. */
  act: z.string(),
  /** Id of what was acted on. */
  target: z.string(),
  /** The project it was about; null is the whole organization, which keys of one project do not see. */
  projectId: z.string().nullable(),
  /** What changed; keys are wire names. */
  details: z.record(z.string(), z.unknown()),
})

/** One act. Never holds a secret. */
export type AuditEntry = Immutable<z.infer<typeof schema>>

export interface AuditedAction extends Pick<AuditEntry, 'act' | 'target' | 'details'> {
  readonly actor: Actor
  readonly organizationId: string
  readonly projectId?: string | undefined
}

/** The part of a principal that says who makes a request. */
export interface Requester {
  readonly organizationId: string
  /** Id of the API key or other grant. */
  readonly credentialId: string
  /** With an access token or a session only. */
  readonly holder?: { readonly kind: 'anonymous' } | { readonly kind: 'user'; readonly userId: string } | undefined
  readonly address?: string | undefined
}

/** A person acts as such, whatever token or session they use; an agent without a person acts by its grant. */
export function actorOf({ holder, credentialId, address }: Omit<Requester, 'organizationId'>): Actor {
  const from = address !== undefined && { address }
  if (holder?.kind === 'user') return { kind: 'user', id: holder.userId, ...from }
  return { kind: holder ? 'agent' : 'api_key', id: credentialId, ...from }
}

export const auditEntries = defineRecord<AuditEntry>({
  name: 'audit',
  schema,
  projectOf: (entry) => entry.projectId ?? '',
})

export class Audit {
  readonly #options: { readonly database: Database; readonly clock: Clock }

  constructor(options: { readonly database: Database; readonly clock: Clock }) {
    this.#options = options
  }

  /** Adds the act to the write that carries it out, so that neither is there without the other. */
  record(change: Change, { organizationId, actor, act, target, details, projectId }: AuditedAction): void {
    const { database, clock } = this.#options
    const at = clock.now()
    const { kind, id, address } = actor
    const who = { actor: { kind, id }, ...(address !== undefined && { address }) }
    const entry = { id: database.newId('aud', at), at, ...who, act, target, projectId: projectId ?? null, details }
    change.insertUnchecked(auditEntries, organizationId, entry)
  }

  /**
   * Adds to the write what it does to settings, an entry for each record: `act` for records of its noun, and created, updated or
   * deleted for others that change along with them. An act in another organization is in both logs.
   */
  recordChanges(change: Change, requester: Requester, act: string, details: Readonly<Record<string, unknown>> = {}): void {
    const actor = actorOf(requester)
    const noun = act.slice(0, act.indexOf('.'))
    for (const changed of change.changed) {
      const { kind, organizationId, projectId, before, after } = changed
      const entry = {
        actor,
        act: kind === noun ? act : `${kind}.${verbOf(changed)}`,
        target: (after ?? before)?.id ?? '',
        details: { ...describe(changed), ...(kind === noun && details) },
      }
      this.record(change, { ...entry, organizationId, projectId: projectId || undefined })
      if (organizationId !== requester.organizationId && kind === noun)
        this.record(change, { ...entry, organizationId: requester.organizationId })
    }
  }
}

const verbOf = ({ before, after }: ChangedRecord): string => (before ? (after ? 'updated' : 'deleted') : 'created')

/** What people call the record by, and the names of the fields that have another value now; with the values that are no secret. */
function describe({ kind, before, after }: ChangedRecord): Record<string, unknown> {
  const record: Readonly<Record<string, unknown>> = { ...(after ?? before) }
  const name = ['name', 'label', 'domain', 'email'].map((field) => record[field]).find((text) => typeof text === 'string' && text !== '')
  if (!before || !after) return name === undefined ? {} : { name }
  const earlier: Readonly<Record<string, unknown>> = { ...before }
  const fields = [...new Set([...Object.keys(earlier), ...Object.keys(record)])]
  const changed = fields.filter((field) => field !== 'updatedAt' && !isDeepStrictEqual(earlier[field], record[field]))
  const details = { ...(name !== undefined && { name }), changed: [...new Set(changed.map(wireName))] }
  const open = changed.filter((field) => isOpen(kind, field))
  return open.length === 0 ? details : { ...details, before: valuesOf(earlier, open), after: valuesOf(record, open) }
}

const valuesOf = (record: Readonly<Record<string, unknown>>, fields: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(fields.map((field) => [wireName(field), shownValue(record[field])]))
