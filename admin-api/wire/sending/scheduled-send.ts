/** Scheduled sends on the wire. Spec "Scheduled send". */
import * as z from 'zod'
import type { Trace } from '#core/trace/trace.ts'
import { encoder } from '../fields/codec.ts'
import { orNull, timeInput, wireTime } from '../fields/time.ts'
import { traceSummaryCode, traceSummaryShape } from './trace.ts'

/** The requested delivery time; RFC 3339 §5.6 requires seconds and an offset. */
export const sendTime = z
  .string()
  .regex(
    /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/,
    'must be a time of RFC 3339 with its offset, such as 2030-01-31T09:00:00Z or 2030-01-31T10:00:00+01:00',
  )
  .toUpperCase()
  .pipe(timeInput)
  .meta({
    description:
      'Time of delivery (RFC 3339), at most 3 days ahead. Requires the plan pro or enterprise. The outcome (relayed or captured) ' +
      'is decided when the request is accepted.',
  })

const scheduledSendShape = traceSummaryShape
  .extend({ canceled_at: wireTime.nullable(), canceled_by: z.string().nullable().meta({ description: 'Id of the API key.' }) })
  .meta({ id: 'ScheduledSend' })

export const scheduledSend = encoder(scheduledSendShape).from<Trace>({
  ...traceSummaryCode,
  canceled_at: ({ canceled }) => orNull(canceled?.at),
  canceled_by: ({ canceled }) => canceled?.by ?? null,
})
