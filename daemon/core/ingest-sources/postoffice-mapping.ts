/** Postoffice mappings: which project the mail of a MailEnable postoffice belongs to. Spec "Postoffice mapping". */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

const schema = z.strictObject({
  id: z.string(),
  sourceId: z.string(),
  /** As MailEnable writes it; compared without case. */
  postoffice: z.string(),
  /** The project it was made for; it may be deleted since. */
  projectId: z.string(),
  defaultDestinationId: z.string().nullable(),
  createdAt: z.int(),
  updatedAt: z.int(),
})

/**
 * As soon as a source has one, it has many tenants, and what comes from a postoffice without one is dropped. A mapping outlives its
 * project for that: it then maps to nothing, and the mail of its postoffice is dropped instead of going to others.
 */
export type PostofficeMapping = Immutable<z.infer<typeof schema>>

export const postofficeMappings = defineRecord<PostofficeMapping>({
  name: 'postoffice_mapping',
  schema,
  isTracked: true,
  indexes: { source: ({ sourceId }) => [[sourceId]] },
  unique: { postoffice: ({ sourceId, postoffice }) => [[sourceId, foldPostoffice(postoffice)]] },
})

export const foldPostoffice = (name: string): string => name.trim().toLowerCase()
