/**
 * Whose mail a postoffice of MailEnable is. Without a mapping everything is the organization's; as soon as there is one, only what
 * is mapped to a project that is there is taken, and the rest is dropped, lest another tenant learn of it.
 */
import type { Database } from '#store/database.ts'
import { foldPostoffice, postofficeMappings, type PostofficeMapping } from './postoffice-mapping.ts'

/** Where to look for messages: everywhere without `projectIds`. */
export interface Tenant {
  readonly projectIds?: readonly string[]
  readonly destinationId?: string
}

export interface Tenants {
  readonly isMultiTenant: boolean
  /** Postoffices with a mapping, as written. */
  readonly postoffices: readonly string[]
  /** The tenant of a postoffice; undefined for what is to be dropped. */
  readonly of: (postoffice: string) => Tenant | undefined
  /** All tenants together, for what names no postoffice and proves its message by itself; undefined when there are none. */
  readonly any: Tenant | undefined
}

/** `projects` are those that are there. */
export async function tenantsOf(
  database: Database,
  organizationId: string,
  sourceId: string,
  projects: ReadonlyMap<string, unknown>,
): Promise<Tenants> {
  const mappings = (await database.all(postofficeMappings, { organizationId }))
    .map(({ record }) => record)
    .filter((mapping) => mapping.sourceId === sourceId)
  const isMultiTenant = mappings.length > 0
  const living = mappings.filter(({ projectId }) => projects.has(projectId))
  const byName = new Map(living.map((mapping) => [foldPostoffice(mapping.postoffice), tenantOf(mapping)]))
  const projectIds = [...new Set(living.map(({ projectId }) => projectId))]
  return {
    isMultiTenant,
    postoffices: mappings.map(({ postoffice }) => postoffice),
    of: (postoffice) => (isMultiTenant ? byName.get(foldPostoffice(postoffice)) : {}),
    any: isMultiTenant ? (projectIds.length > 0 ? { projectIds } : undefined) : {},
  }
}

const tenantOf = ({ projectId, defaultDestinationId }: PostofficeMapping): Tenant => ({
  projectIds: [projectId],
  ...(defaultDestinationId !== null && { destinationId: defaultDestinationId }),
})
