/** Exports the invoices of all organizations as one stream. */
import type { Organization } from '#core/tenancy/organization.ts'
import type { RestCore } from '../rest/rest-core.ts'
import { finalInvoice } from '../wire/organization/invoices.ts'
import { invoice, invoiceCsv, invoiceCsvHeader } from '../wire/organization/usage.ts'

const pageRows = 100

export async function* exportedPreviews(core: RestCore, month: string, format: 'csv' | 'json'): AsyncGenerator<string> {
  yield format === 'csv' ? invoiceCsvHeader('organization_id', 'organization') : '{"data":['
  let isFirst = true
  for await (const { id, name } of everyOrganization(core)) {
    const preview = invoice.encode(await core.invoices.preview(id, month))
    yield format === 'csv' ? invoiceCsv(preview, id, name) : `${isFirst ? '' : ','}${JSON.stringify(preview)}`
    isFirst = false
  }
  if (format === 'json') yield ']}'
}

/** Exports final invoices and credit notes. */
export async function* exportedInvoices(core: RestCore, month: string, format: 'csv' | 'json'): AsyncGenerator<string> {
  const before = ['number', 'issued_at', 'state', 'organization_id', 'organization'] as const
  yield format === 'csv' ? invoiceCsvHeader(...before) : '{"data":['
  let isFirst = true
  for (let cursor: string | undefined; ;) {
    const { rows, nextCursor } = await core.billing.register.ofMonth(month, { limit: pageRows, cursor })
    for (const row of rows) {
      const final = finalInvoice.encode(row)
      const { number, issued_at, state, organization_id, organization_name } = final
      if (format === 'csv') yield invoiceCsv(final, number, issued_at, state ?? '', organization_id, organization_name)
      else yield `${isFirst ? '' : ','}${JSON.stringify(final)}`
      isFirst = false
    }
    if (nextCursor === undefined) break
    cursor = nextCursor
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
