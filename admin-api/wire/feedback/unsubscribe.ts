/** Unsubscribes from lists on the wire. */
import * as z from 'zod'
import type { OptOut } from '#core/feedback/suppression/opt-out.ts'
import { encoder } from '../fields/codec.ts'
import { wireTime } from '../fields/time.ts'

const unsubscribeShape = z
  .object({
    id: z.string(),
    email: z.string().meta({ description: 'In lower case, with the domain as A-labels.' }),
    list: z
      .string()
      .nullable()
      .meta({
        description:
          'The name of the list, or the address of the sender if the send had `list_unsubscribe: true`. A name belongs to its ' +
          'project, an address to the whole organization. Null means every list of the organization; only old entries have it.',
      }),
    project_id: z.string().nullable().meta({ description: 'The project of the message that contained the link.' }),
    trace_id: z.string().nullable().meta({ description: 'The message that contained the link. Its trace may have been deleted since.' }),
    created_at: wireTime,
  })
  .meta({ id: 'Unsubscribe' })

export const unsubscribe = encoder(unsubscribeShape).from<OptOut>({ list: ({ name }) => name })
