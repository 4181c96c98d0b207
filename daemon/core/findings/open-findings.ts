/** Lists open findings of all organizations, for the operator, metrics and `/readyz`. Must not be used for requests of tenants. */
import { decode } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { unpack, within } from '#store/tuple.ts'
import { systemOrganizationId } from '../routing/policy/system-policy.ts'
import { openKey, type OpenRow } from './finding.ts'
import { factsOf } from './kinds.ts'

export interface OpenFinding extends OpenRow {
  readonly organizationId: string
  readonly id: string
}

/** Yields the rows without reading the findings; most severe first. */
export async function* openFindings(database: Pick<Database, 'kv'>): AsyncGenerator<OpenFinding> {
  for await (const { key, value } of database.kv.range(within(openKey()))) {
    const [organizationId = '', id = ''] = unpack(key).slice(-2).map(String)
    yield { ...decode<OpenRow>(value), organizationId, id }
  }
}

/** Whether the operator reads about the finding: all of the service, and findings of organizations that concern the operator too. */
export const isForOperator = ({ organizationId, kind }: Pick<OpenFinding, 'organizationId' | 'kind'>): boolean =>
  organizationId === systemOrganizationId || factsOf(kind).audience !== 'owner'
