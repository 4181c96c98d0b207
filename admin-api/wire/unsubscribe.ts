/** Opt-outs of lists on the wire. */
import * as z from 'zod'
import type { OptOut } from '#core/feedback/suppression/opt-out.ts'
import { encoder } from './codec.ts'
import { wireTime } from './time.ts'

const unsubscribeShape = z
  .object({
    id: z.string(),
    email: z.string().meta({ description: 'In lower case, the domain as A-labels.' }),
    list: z
      .string()
      .nullable()
      .meta({
        description:
          'The name of the list, or the address of the sender where the send had `list_unsubscribe: true`. A name is of its project; an address is of the whole ' +
          'organization. Null, from before there were lists, is every list of the organization.',
      }),
    project_id: z.string().nullable().meta({ description: 'The project of the message whose link was followed.' }),
    trace_id: z.string().nullable().meta({ description: 'That message; its trace can be gone.' }),
    created_at: wireTime,
  })
  .meta({ id: 'Unsubscribe' })

export const unsubscribe = encoder(unsubscribeShape).from<OptOut>({ list: ({ name }) => name })
