/** Creates, reads, changes and deletes postoffice mappings. Spec "Postoffice mapping". */
import type { Change } from '#store/change.ts'
import type { Page } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Core } from '../core.ts'
import { listReachable, sieve, type List, type OfProject, type PageQuery } from '../access/principal/lists.ts'
import { isOpenTo, owningProject } from '../access/principal/project-choice.ts'
import { reachOf, requireAdministration } from '../access/principal/organization-acts.ts'
import type { Principal } from '../access/principal/principal.ts'
import { invalid, Refusal } from '../refusals.ts'
import type { Policy } from '../routing/policy/policy.ts'
import { droppedKey } from './dropped-postoffices.ts'
import { ingestSources } from './ingest-source.ts'
import { foldPostoffice, postofficeMappings, type PostofficeMapping } from './postoffice-mapping.ts'
import { must } from '../writes/transact.ts'

export interface NewPostofficeMapping {
  readonly sourceId: string
  readonly postoffice: string
  readonly projectId?: string | undefined
  readonly defaultDestinationId?: string | null | undefined
}

/** Postoffice and source never change. */
export type PostofficeMappingChanges = Pick<NewPostofficeMapping, 'projectId' | 'defaultDestinationId'>

export interface PostofficeMappingFilter extends OfProject {
  readonly sourceId?: string | undefined
}

/** Maximum number of mappings per source, enough for the customers of a provider. */
const maxMappings = 10_000

export class PostofficeMappings implements List<PostofficeMappingFilter, PostofficeMapping> {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** Throws `not_found` for a missing source or project, `validation_failed`, and `conflict` for a mapped postoffice. */
  async create(principal: Principal, request: NewPostofficeMapping): Promise<PostofficeMapping> {
    requireAdministration(principal, 'mappings.change')
    const { database, writes, policies, clock } = this.#core
    const { organizationId } = principal
    return writes.runAudited(principal, 'postoffice_mapping.created', async (change) => {
      const { sourceId } = request
      await this.#requireMailEnable(principal, sourceId)
      const policy = await policies.of(organizationId)
      const projectId = owningProject(principal, policy.projects, request.projectId)
      const defaultDestinationId = checkDestination(policy, projectId, request.defaultDestinationId ?? null)
      await this.#requireRoom(principal, sourceId, request.postoffice)
      const now = clock.now()
      const times = { createdAt: now, updatedAt: now }
      const postoffice = request.postoffice.trim()
      const mapping = { id: database.newId('pom', now), sourceId, postoffice, projectId, defaultDestinationId, ...times }
      change.insert(postofficeMappings, organizationId, mapping)
      change.delete(droppedKey(organizationId, sourceId, foldPostoffice(postoffice)))
      return mapping
    })
  }

  /** Lists mappings, newest first. Throws `not_found` for a missing source or project. */
  async list(principal: Principal, { sourceId, ...page }: PageQuery & PostofficeMappingFilter): Promise<Page<PostofficeMapping>> {
    if (sourceId !== undefined) await this.#requireMailEnable(principal, sourceId)
    return listReachable(this.#core, postofficeMappings, principal, page, (chosen) => ({
      ...(sourceId !== undefined && { index: 'source', values: [sourceId] }),
      ...(chosen !== undefined && { sieve: sieve(({ projectId }: PostofficeMapping) => projectId === chosen) }),
    }))
  }

  /** Throws `not_found` for missing and foreign ids. */
  async get(principal: Principal, id: string): Promise<PostofficeMapping> {
    const { record } = await this.#get(principal, id)
    if (reachOf(principal, 'mappings.read') === 'all' || record.projectId === principal.projectId) return record
    throw new Refusal('not_found', 'No postoffice mapping has this id.')
  }

  /** Changes only the given fields. */
  async update(principal: Principal, id: string, changes: PostofficeMappingChanges): Promise<PostofficeMapping> {
    requireAdministration(principal, 'mappings.change')
    const { writes, policies, clock } = this.#core
    return writes.runAudited(principal, 'postoffice_mapping.updated', async (change) => {
      const stored = await this.#get(principal, id)
      const policy = await policies.of(principal.organizationId)
      const { record } = stored
      const projectId = changes.projectId === undefined ? record.projectId : owningProject(principal, policy.projects, changes.projectId)
      const named = changes.defaultDestinationId === undefined ? record.defaultDestinationId : changes.defaultDestinationId
      const isChanged = changes.defaultDestinationId !== undefined || projectId !== record.projectId
      const defaultDestinationId = isChanged ? checkDestination(policy, projectId, named) : named
      const next = { ...record, projectId, defaultDestinationId, updatedAt: clock.now() }
      change.replace(postofficeMappings, principal.organizationId, stored, next)
      return next
    })
  }

  /** Does nothing if the mapping is missing. */
  async remove(principal: Principal, id: string): Promise<void> {
    requireAdministration(principal, 'mappings.change')
    await this.#core.writes.runAudited(principal, 'postoffice_mapping.deleted', async (change: Change) => {
      const stored = await this.#core.database.get(postofficeMappings, principal, id)
      if (stored) change.remove(postofficeMappings, principal.organizationId, stored)
    })
  }

  #get(principal: Principal, id: string): Promise<Stored<PostofficeMapping>> {
    return must(this.#core.database, postofficeMappings, principal, id)
  }

  async #requireMailEnable(principal: Principal, sourceId: string): Promise<void> {
    const source = await this.#core.database.get(ingestSources, principal, sourceId)
    if (!source) throw new Refusal('not_found', 'bounce_source_config_id: no ingest source has this id.')
    if (source.record.provider === 'mailenable') return
    const message = `must be a source of the provider mailenable; this one has the provider ${source.record.provider}`
    throw invalid([{ path: 'bounce_source_config_id', message }])
  }

  async #requireRoom(principal: Principal, sourceId: string, postoffice: string): Promise<void> {
    const { database } = this.#core
    const values = [sourceId, foldPostoffice(postoffice)]
    if (await database.find(postofficeMappings, principal, 'postoffice', values))
      throw new Refusal('conflict', 'This postoffice already has a mapping in the source; update that one.')
    const page = await database.list(postofficeMappings, principal, { index: 'source', values: [sourceId], limit: maxMappings })
    if (page.rows.length < maxMappings) return
    const message = `A source can have at most ${maxMappings} postoffice mappings; delete one first.`
    throw new Refusal('conflict', message, { nextAction: 'delete_mapping' })
  }
}

function checkDestination({ destinations }: Policy, projectId: string, id: string | null): string | null {
  if (id === null || id === '') return null
  const destination = destinations.get(id)
  if (destination && isOpenTo(destination, projectId)) return id
  throw invalid([{ path: 'default_destination_id', message: 'no destination of this project has this id' }])
}
