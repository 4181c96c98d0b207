/** Standing holds of the delivery queue on the wire. */
import * as z from 'zod'
import { isOperators, type HoldFilter, type QueueHold } from '#core/routing/queue-hold.ts'
import { encoder } from '../fields/codec.ts'
import { filledLine, id } from '../fields/text.ts'
import { wireTime } from '../fields/time.ts'
import { fromField, toDomainField } from './queue.ts'

const holdFilter = z
  .strictObject({
    project_id: id.optional(),
    destination_id: id.optional(),
    to_domain: toDomainField.optional(),
    from: fromField.optional(),
  })
  .meta({ description: 'Selects messages; all fields must match. An empty object selects every message of the organization.' })

export const newQueueHold = z.strictObject({
  filter: holdFilter,
  reason: filledLine(500, 'Reason; recorded in the trace of each message and in the audit log.').optional(),
})

const filterShape = z.object({
  project_id: z.string().nullable(),
  destination_id: z.string().nullable(),
  to_domain: z.string().nullable(),
  from: z.string().nullable(),
})

const holdShape = z
  .object({
    id: z.string(),
    filter: filterShape,
    reason: z.string().nullable(),
    set_by: z.string().meta({ description: 'Id of the API key or user; `operator` for the operator.' }),
    of_operator: z.boolean().meta({ description: 'The operator of the service created this hold; only the operator can release it.' }),
    act_id: z.string().meta({ description: 'Id of the queue action that holds the messages already queued.' }),
    created_at: wireTime,
  })
  .meta({ id: 'QueueHold' })

const noFilter = { projectId: undefined, destinationId: undefined, toDomain: undefined, from: undefined }

const holdOf = (hold: QueueHold) => ({
  ...hold,
  setBy: hold.by.id === '' ? hold.by.kind : hold.by.id,
  ofOperator: isOperators(hold),
})

export const queueHold = encoder(holdShape)
  .from<ReturnType<typeof holdOf>>({
    filter: ({ filter }) =>
      encoder(filterShape)
        .from<Record<keyof HoldFilter, string | undefined>>()
        .encode({ ...noFilter, ...filter }),
  })
  .via(holdOf)
