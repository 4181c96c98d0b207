/** Authorized applications on the wire. */
import * as z from 'zod'
import type { AllowedApplication } from '#core/consent/organization-applications.ts'
import { encoder } from '../fields/codec.ts'
import { pageEncoder } from '../fields/paging.ts'
import { orNull, toWireTime, wireTime } from '../fields/time.ts'

const applicationShape = z
  .object({
    id: z.string(),
    client_id: z.string(),
    name: z.string().meta({ description: 'Name given by the application.' }),
    verified_host: z.string().nullable().meta({ description: 'The host that verified the name; null if the name is not verified.' }),
    project_id: z.string(),
    user: z.object({ id: z.string(), email: z.string(), name: z.string() }).meta({ description: 'The member who authorized it.' }),
    scopes: z.array(z.string()).meta({ description: 'The maximum scopes of the application. The role of the member limits them further.' }),
    reaches_organization: z.boolean().meta({ description: 'Its tools may also access resources of the whole organization.' }),
    created_at: wireTime,
    last_used_at: wireTime.nullable().meta({ description: 'Accurate to five minutes; null until the first call.' }),
  })
  .meta({ id: 'Application' })

export const application = encoder(applicationShape).from<AllowedApplication>({
  name: ({ clientName }) => clientName,
  verified_host: ({ verifiedHost }) => verifiedHost ?? null,
  user: ({ user: { id, email, name } }) => ({ id, email, name }),
  created_at: ({ since }) => toWireTime(since),
  last_used_at: ({ usedAt }) => orNull(usedAt),
})

export const allApplications = pageEncoder(application).via((all: AllowedApplication[]) => ({ rows: all, nextCursor: undefined }))
