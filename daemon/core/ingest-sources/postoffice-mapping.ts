/** Postoffice mappings: the project of each MailEnable postoffice. Spec "Postoffice mapping". */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

const schema = z.strictObject({
  id: z.string(),
  sourceId: z.string(),
  /** In MailEnable's spelling; compared case-insensitively. */
  postoffice: z.string(),
  /** The project of the mapping, which may have been deleted. */
  projectId: z.string(),
  defaultDestinationId: z.string().nullable(),
  createdAt: z.int(),
  updatedAt: z.int(),
})

/**
 * A mapping. A source with a mapping has several tenants, and events of unmapped postoffices are dropped. A mapping outlives its project:
 * events of its postoffice are then dropped and never reach other tenants.
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
