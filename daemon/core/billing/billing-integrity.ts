/** Checks of `postern verify` for billing: records and rows, sums and numbers of invoices, and credit balances against the ledger. */
import { decode } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { VerifyOptions } from '#store/verify/verify.ts'
import { pack } from '#store/tuple.ts'
import { billingProfiles } from './billing-profile.ts'
import { invoiceDocuments, invoicePartition, numberKey, type InvoiceDocument } from './closing/invoice-document.ts'
import { creditAccounts, creditEntries, creditGrants, creditKinds } from './credits/credit.ts'
import { invoicePayments } from './payment/payment.ts'
import { planTerms } from './plan-term.ts'
import { prices } from './price.ts'

export const billingKinds = [planTerms, prices, billingProfiles, ...creditKinds, invoiceDocuments, invoicePayments] as const

export const closedInvoiceRows = (database: Database): Required<VerifyOptions>['families'] => [
  ...['invoice.number', 'invoice.month', 'invoice.since'].map((name) => ({ name, global: true as const })),
  {
    name: 'invoice.closed',
    global: true,
    async check(_key, value) {
      const id = decode<string>(value)
      const found = await database.get(invoiceDocuments, { organizationId: invoicePartition }, id)
      return found ? [] : ['the invoice of the closed month is missing']
    },
  },
]

const maxLooks = 5

/** Checks that the balance of an organization equals the sum of its ledger. Reads again if the account changed during the check. */
export async function checkCredits(database: Database, organizationId: string): Promise<string[]> {
  const reach = { organizationId }
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, ucr) => total + ucr, 0)
  for (let looks = 0; looks < maxLooks; looks++) {
    const before = await database.get(creditAccounts, reach, organizationId)
    if (!before) return []
    const grants = (await database.all(creditGrants, reach)).map(({ record }) => record.remainingUcr)
    const entries = (await database.all(creditEntries, reach)).map(({ record }) => record.deltaUcr)
    const [balance, ledger] = [sum(grants) - before.record.owedUcr, sum(entries)]
    if (balance === ledger) return []
    const after = await database.get(creditAccounts, reach, organizationId)
    if (after?.version === before.version) return [`the balance is ${balance} millionths of a credit, and the ledger adds up to ${ledger}`]
  }
  return []
}

export async function checkInvoice(database: Database, document: InvoiceDocument): Promise<string[]> {
  const { number, type, issuedAt, lines, netRappen, vatRappen, totalRappen, voids } = document
  const problems: string[] = []
  const sum = lines.reduce((total, { amountRappen }) => total + amountRappen, 0)
  if (sum !== netRappen || netRappen + vatRappen !== totalRappen) problems.push(`the invoice ${number} does not add up`)
  const last = await database.kv.get(pack(numberKey(type, new Date(issuedAt).getUTCFullYear())))
  if (!last || decode<number>(last.value) < Number(number.slice(-6))) problems.push(`the number ${number} was never assigned`)
  const reach = { organizationId: invoicePartition }
  const [id, kind] = voids === undefined ? ([document.id, invoicePayments] as const) : ([voids, invoiceDocuments] as const)
  if (!(await database.get(kind as typeof invoiceDocuments, reach, id)))
    problems.push(`the ${voids === undefined ? 'payment record' : 'voided invoice'} of ${number} is missing`)
  return problems
}
