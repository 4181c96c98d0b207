/** Lists the websites of all organizations, for the operator of the service only. */
import { cursorAt, keyAt } from '#store/cursor.ts'
import type { Page } from '#store/database.ts'
import { lookupPrefix } from '#store/record-kind.ts'
import { pack, unpack, within } from '#store/tuple.ts'
import type { PageQuery } from '../access/principal/lists.ts'
import type { Core } from '../core.ts'
import { organizations } from '../tenancy/organization.ts'
import { sites, type Site } from './site.ts'

export interface OwnedSite extends Site {
  readonly organizationId: string
  readonly organizationName: string
}

export interface SiteFilter {
  /** Part of the name or of a domain, or the id of the site or of its organization. */
  readonly q?: string | undefined
}

/** A page of a search reads at most this number of sites; its cursor continues after them. */
const maxLooks = 5000
const byName = lookupPrefix(sites.name, 'slug')

/** Returns sites in order of their names. Throws `CursorInvalid`. */
export async function allSites({ database }: Pick<Core, 'database'>, query: PageQuery & SiteFilter): Promise<Page<OwnedSite>> {
  const { limit, cursor, q = '' } = query
  const wanted = q.toLowerCase()
  const rows: OwnedSite[] = []
  const { start, end } = within(byName)
  const after = cursor === undefined ? start : Buffer.concat([keyAt(byName, cursor), Buffer.of(0)])
  let looks = 0
  for await (const { key } of database.kv.range({ start: after, end, keysOnly: true })) {
    const slug = String(unpack(key).at(-1))
    const found = await database.lookup(sites, 'slug', [slug])
    if (found && fits({ ...found.record, organizationId: found.organizationId }, wanted)) {
      const { organizationId, record } = found
      const owner = await database.get(organizations, { organizationId }, organizationId)
      rows.push({ ...record, organizationId, organizationName: owner?.record.name ?? '' })
    }
    if (rows.length === limit || ++looks === maxLooks) return { rows, nextCursor: cursorAt(byName, pack([...byName, slug])) }
  }
  return { rows, nextCursor: undefined }
}

const fits = ({ id, slug, domains, organizationId }: Omit<OwnedSite, 'organizationName'>, wanted: string): boolean =>
  wanted === id || wanted === organizationId || [slug, ...domains.map(({ name }) => name)].some((name) => name.includes(wanted))
