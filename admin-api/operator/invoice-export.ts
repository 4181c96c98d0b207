/** The invoices of all organizations as one file, written as it is read. */
import type { Organization } from '#core/tenancy/organization.ts'
import type { RestCore } from '../rest/rest-core.ts'
import { invoice, invoiceCsv, invoiceCsvHeader } from '../wire/organization/usage.ts'

const pageRows = 100

export async function* exportedInvoices(core: RestCore, month: string, format: 'csv' | 'json'): AsyncGenerator<string> {
  yield format === 'csv' ? invoiceCsvHeader('organization_id', 'organization') : '{"data":['
  let isFirst = true
  for await (const { id, name } of everyOrganization(core)) {
    const preview = invoice.encode(await core.invoices.preview(id, month))
    yield format === 'csv' ? invoiceCsv(preview, id, name) : `${isFirst ? '' : ','}${JSON.stringify(preview)}`
    isFirst = false
  }
  if (format === 'json') yield ']}'
}

async function* everyOrganization({ operator }: RestCore): AsyncGenerator<Organization> {
  for (let cursor: string | undefined; ;) {
    const { rows, nextCursor } = await operator.list({ limit: pageRows, cursor })
    yield* rows
    if (nextCursor === undefined) return
    cursor = nextCursor
  }
}
