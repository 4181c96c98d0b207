/** Audit log of changes to an organization's settings, written together with the change. */
import { isDeepStrictEqual } from 'node:util'
import type { Change, ChangedRecord } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import type { Clock } from '../clock.ts'
import { isOpen, shownValue, wireName } from './open-fields.ts'

export const actorKinds = ['operator', 'api_key', 'user', 'agent', 'service'] as const

/** The actor. `id` is the id of the key, the person or the agent's grant; empty for the operator and the service itself. */
export interface Actor {
  readonly kind: (typeof actorKinds)[number]
  readonly id: string
  /** IP address of the actor, if known. */
  readonly address?: string | undefined
}

const schema = z.strictObject({
  id: z.string(),
  at: z.int(),
  actor: z.strictObject({ kind: z.enum(actorKinds), id: z.string() }),
  /** Address of the actor; absent in entries before 2026-11-23, and for acts without a request. */
  address: z.string().optional(),
  /** Noun and verb, such as `organization.plan_set`. */
  act: z.string(),
  /** Id of the changed object. */
  target: z.string(),
  /** Project concerned; null for the whole organization, which keys of one project cannot see. */
  projectId: z.string().nullable(),
  /** Changed values; keys are wire names. */
  details: z.record(z.string(), z.unknown()),
})

/** One act. Never contains a secret. */
export type AuditEntry = Immutable<z.infer<typeof schema>>

export interface AuditedAction extends Pick<AuditEntry, 'act' | 'target' | 'details'> {
  readonly actor: Actor
  readonly organizationId: string
  readonly projectId?: string | undefined
}

/** The requester's part of a principal. */
export interface Requester {
  readonly organizationId: string
  /** Id of the API key or other grant. */
  readonly credentialId: string
  /** Only set with an access token or a session. */
  readonly holder?: { readonly kind: 'anonymous' } | { readonly kind: 'user'; readonly userId: string } | undefined
  readonly address?: string | undefined
}

/** Returns the actor. A person is the actor with any token or session; an agent without a person acts by its grant. */
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

  /** Adds the act to the write that makes the change, so that both are stored or neither. */
  record(change: Change, { organizationId, actor, act, target, details, projectId }: AuditedAction): void {
    const { database, clock } = this.#options
    const at = clock.now()
    const { kind, id, address } = actor
    const who = { actor: { kind, id }, ...(address !== undefined && { address }) }
    const entry = { id: database.newId('aud', at), at, ...who, act, target, projectId: projectId ?? null, details }
    change.insertUnchecked(auditEntries, organizationId, entry)
  }

  /**
   * Adds an entry for each changed record of the write: `act` for records of its noun, otherwise created, updated or deleted. An act in
   * another organization is recorded in both logs.
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

/** Times of changes, which entries have themselves. */
const impliedFields: ReadonlySet<string> = new Set(['updatedAt', 'liveAt'])

/** Returns the record's display name and the names of changed fields, with values unless they are secret. */
function describe({ kind, before, after }: ChangedRecord): Record<string, unknown> {
  const record: Readonly<Record<string, unknown>> = { ...(after ?? before) }
  const name = ['name', 'label', 'domain', 'email'].map((field) => record[field]).find((text) => typeof text === 'string' && text !== '')
  if (!before || !after) return name === undefined ? {} : { name }
  const earlier: Readonly<Record<string, unknown>> = { ...before }
  const fields = [...new Set([...Object.keys(earlier), ...Object.keys(record)])]
  const changed = fields.filter((field) => !impliedFields.has(field) && !isDeepStrictEqual(earlier[field], record[field]))
  const details = { ...(name !== undefined && { name }), changed: [...new Set(changed.map(wireName))] }
  const open = changed.filter((field) => isOpen(kind, field))
  return open.length === 0 ? details : { ...details, before: valuesOf(earlier, open), after: valuesOf(record, open) }
}

const valuesOf = (record: Readonly<Record<string, unknown>>, fields: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(fields.map((field) => [wireName(field), shownValue(record[field])]))
