/** The audit log on the wire. */
import * as z from 'zod'
import { actorKinds, type AuditEntry } from '#core/writes/audit.ts'
import { encoder } from '../fields/codec.ts'
import { id, line } from '../fields/text.ts'
import { timeInput, wireTime } from '../fields/time.ts'

const auditEntryShape = z
  .object({
    id: z.string(),
    actor: z.object({ kind: z.enum(actorKinds), id: z.string() }),
    address: z.string().nullable().meta({
      description: 'IP address of the actor. Null for actions of the operator and the service, and in entries of earlier releases.',
    }),
    act: z.string(),
    target: z.string(),
    at: wireTime,
    project_id: z.string().nullable(),
    details: z.record(z.string(), z.unknown()).meta({
      description:
        '`changed` names the changed fields of a setting; `before` and `after` contain their values, except secrets. Passwords, ' +
        'keys, logins and web addresses are never included.',
    }),
  })
  .meta({ id: 'AuditEntry' })

export const auditEntry = encoder(auditEntryShape).from<AuditEntry>()

export const auditFilter = {
  actor: id.optional().meta({ description: 'Id of the key that performed the action.' }),
  act: line(64, 'A resource type such as destination, or an action such as destination.created.').optional(),
  target: id.optional().meta({ description: 'Id of the changed resource.' }),
  since: timeInput.optional().meta({ description: 'At or after this time.' }),
  until: timeInput.optional().meta({ description: 'Before this time.' }),
}
