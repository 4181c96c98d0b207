/**
 * Finds the tenant of a MailEnable postoffice. Without mappings, all mail belongs to the organization. With a mapping, only events of
 * postoffices mapped to an existing project are accepted. Others are dropped, so that no tenant sees another tenant's mail.
 */
import type { Database } from '#store/database.ts'
import { foldPostoffice, postofficeMappings, type PostofficeMapping } from './postoffice-mapping.ts'

/** The scope of the message search; everything without `projectIds`. */
export interface Tenant {
  readonly projectIds?: readonly string[]
  readonly destinationId?: string
}

export interface Tenants {
  readonly isMultiTenant: boolean
  /** Postoffices with a mapping, in their original spelling. */
  readonly postoffices: readonly string[]
  /** Returns the tenant of a postoffice; undefined if its events must be dropped. */
  readonly of: (postoffice: string) => Tenant | undefined
  /** All tenants together, for events without a postoffice whose return path proves their message. Undefined without any tenant. */
  readonly any: Tenant | undefined
}

/** `projects` are the existing projects. */
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
