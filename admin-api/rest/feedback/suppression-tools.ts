/** Tools for suppressions with other inputs than REST: pages by offset, and small imports. Spec "Operate". */
import * as z from 'zod'
import type { Page } from '#store/database.ts'
import type { Suppression } from '#core/feedback/suppression/suppression.ts'
import { readJsonRows } from '#ingest/rows/json-rows.ts'
import { action, type Action } from '../../actions/action.ts'
import { pageEncoder } from '../../wire/fields/paging.ts'
import { encoderOf } from '../../wire/fields/codec.ts'
import { importReportShape, reportJson, RowFields, suppression, suppressionFilter } from '../../wire/feedback/suppression.ts'
import type { RestCore } from '../rest-core.ts'
import { entryFields } from './suppressions.ts'

const about = { tags: ['suppressions'] } as const
const toolset = 'operate'
const maxListed = 200
/** Largest offset. To reach later entries, callers narrow the list with a filter. */
const maxOffset = 10_000
/** Spec "Limits" 12. */
const maxRows = 1000

const { created_after: _later, ...filter } = suppressionFilter

const listing: Action<RestCore> = action({
  ...about,
  id: 'listSuppressionsByOffset',
  summary: 'List suppressions',
  scope: 'api:read',
  input: z.strictObject({
    ...filter,
    limit: z.int().min(1).max(maxListed).default(50),
    offset: z.int().min(0).max(maxOffset).default(0).meta({ description: 'Number of entries to skip.' }),
  }),
  output: pageEncoder(suppression),
  tool: {
    name: 'email_suppression_list',
    toolset,
    description:
      'List suppressed addresses of the organization, newest first, by source, project or part of the address. For why one ' +
      'message did not arrive use email_diagnose_missing. To delete an entry use email_suppression_remove(id).',
    untrusted: entryFields,
    reachesOrganization: true,
  },
  async run({ core, principal, signal }, { limit, offset, ...asked }): Promise<Page<Suppression>> {
    const wanted = offset + limit
    const rows: Suppression[] = []
    let cursor: string | undefined
    do {
      signal.throwIfAborted()
      const page = await core.suppressions.list(principal, { ...asked, limit: maxListed, cursor })
      rows.push(...page.rows)
      cursor = page.nextCursor
    } while (cursor !== undefined && rows.length < wanted)
    return { rows: rows.slice(offset, wanted), nextCursor: rows.length > wanted ? 'more' : cursor }
  },
})

const importing: Action<RestCore> = action({
  ...about,
  id: 'importFewSuppressions',
  summary: 'Import suppressions',
  scope: 'api:admin',
  input: z.strictObject({
    rows: z
      .array(z.looseObject({ email: z.string(), reason: z.string().optional(), expires_at: z.string().optional() }))
      .min(1)
      .max(maxRows, `must have at most ${maxRows} rows; split the import, or use POST /v1/suppressions/bulk-import`),
  }),
  output: encoderOf(importReportShape, (report: z.input<typeof importReportShape>) => report),
  tool: {
    name: 'email_suppression_bulk_import',
    toolset,
    description:
      'Put up to 1000 addresses on the suppression list at once: rows of {email, reason?, expires_at?}. An invalid row does not ' +
      'stop the others; the report states the result of each. For one address use email_suppression_add. All mail of the ' +
      'organization to them stops.',
    reachesOrganization: true,
    hints: { idempotent: true },
  },
  async run({ core, principal, signal }, { rows }) {
    const fields = new RowFields()
    const bytes = piecesOf(Buffer.from(JSON.stringify({ rows })))
    const report = await core.suppressionImport.run(principal, { bytes, rows: readJsonRows, toEntry: fields.toEntry, signal })
    return JSON.parse([...reportJson(report, fields.ignored)].join('')) as z.input<typeof importReportShape>
  },
})

export const suppressionTools: readonly Action<RestCore>[] = [listing, importing]

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
