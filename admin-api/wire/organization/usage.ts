/** Usage and invoices on the wire. Spec "Limits" 4. */
import * as z from 'zod'
import { axisNames, billableAxes } from '#config/plans/prices.ts'
import { planNames } from '#config/plans/plans.ts'
import type { Invoice } from '#core/billing/invoice.ts'
import type { Period } from '#core/billing/period.ts'
import type { UsageReport } from '#core/billing/usage-report.ts'
import { csvLine } from '#ingest/rows/csv-cells.ts'
import { encoder } from '../fields/codec.ts'
import { wireTime } from '../fields/time.ts'

export const period = z.string().max(7).optional().meta({ description: 'A month in UTC such as 2026-11. Defaults to the current month.' })

const axis = z.enum(axisNames)

const usageShape = z
  .object({
    period: z.string(),
    from: wireTime,
    until: wireTime,
    plan: z.enum(planNames),
    sends: z.int().meta({ description: 'Accepted sends of every kind, including messages queued by a replay.' }),
    agent_calls: z.int().meta({ description: 'Calls of agent tools; they are not billed.' }),
    axes: z.array(z.object({ axis, label: z.string(), quantity: z.int() })),
    projects: z.array(z.object({ project_id: z.string(), name: z.string(), sends: z.int(), smtp_messages: z.int(), captures: z.int() })),
    limits: z
      .array(z.object({ name: z.string(), used: z.int(), limit: z.int().nullable() }))
      .meta({ description: 'Current use, regardless of the period; null means no limit.' }),
  })
  .meta({ id: 'Usage' })

/** Replaces the period by its month and bounds. */
const inPeriod = <Report extends { readonly period: Period }>({ period, ...rest }: Report) => ({
  ...rest,
  period: period.month,
  from: period.from,
  until: period.until,
})

export const usage = encoder(usageShape)
  .from<ReturnType<typeof inPeriod<UsageReport>>>({
    axes: ({ axes }) => axisNames.map((name) => ({ axis: name, label: billableAxes[name].label, quantity: axes[name] })),
  })
  .via(inPeriod<UsageReport>)

const lineShape = z.object({
  axis: z.enum([...axisNames, 'monthly_fee']),
  label: z.string().meta({ description: 'Label in English.' }),
  plan: z.enum(planNames).nullable().meta({ description: 'For a fee: its plan.' }),
  quantity: z.int(),
  included: z.int(),
  billable: z.int(),
  unit_price_urp: z.int().meta({ description: 'Price of `per` units, in millionths of a rappen.' }),
  per: z.int().meta({ description: '1. For the fee of a plan that applied for part of the month: the number of days of the month.' }),
  amount_rappen: z.int().meta({ description: '`billable` times the unit price, divided by `per`, rounded half up to whole rappen.' }),
  days: z.array(z.object({ day: z.string(), quantity: z.int() })).meta({
    description: 'The quantity by day, in UTC. For a peak: its first day. For an average: the value of each day.',
  }),
  projects: z.array(z.object({ project_id: z.string().nullable(), name: z.string(), quantity: z.int() })).meta({
    description:
      'The quantity by project; the parts add up to it. null combines usage of the whole organization or of deleted projects, ' +
      'and of projects beyond the 200 largest. Fees have no parts.',
  }),
})

/** The fields of all invoices. */
export const invoiceFields = {
  organization_id: z.string(),
  period: z.string(),
  from: wireTime,
  until: wireTime,
  plan: z.enum(planNames).meta({
    description:
      'The plan that determines the prices of the month: the plan with the largest fee during the month. Fees are billed by the day.',
  }),
  currency: z.literal('CHF'),
  lines: z.array(lineShape),
  net_rappen: z.int().meta({ description: 'The sum of the lines.' }),
  vat_basis_points: z.int().meta({ description: 'Hundredths of a percent.' }),
  vat_rappen: z.int().meta({ description: 'Tax on the net amount, rounded half up to whole rappen.' }),
  total_rappen: z.int(),
}

const invoiceShape = z.object(invoiceFields).meta({ id: 'InvoicePreview' })

export const invoice = encoder(invoiceShape)
  .from<ReturnType<typeof inPeriod<Invoice>>>()
  .via(inPeriod<Invoice>)

export type WireInvoice = ReturnType<typeof invoice.encode>
/** The part of an invoice that CSV contains. */
export type InvoiceRows = Pick<WireInvoice, 'lines' | 'net_rappen' | 'vat_basis_points' | 'vat_rappen' | 'total_rappen'>

const columns = ['axis', 'label', 'quantity', 'included', 'billable', 'unit_price_urp', 'per', 'amount_rappen'] as const

const sumsOf = (shown: InvoiceRows): readonly [string, string, number][] => [
  ['net', 'Net', shown.net_rappen],
  ['vat', `VAT ${(shown.vat_basis_points / 100).toFixed(2)} %`, shown.vat_rappen],
  ['total', 'Total', shown.total_rappen],
]

/** Returns the header row of invoices as CSV; `before` names additional leading columns. */
export const invoiceCsvHeader = (...before: readonly string[]): string => csvLine([...before, ...columns])

/** Returns the lines of an invoice with its sums, as CSV; `before` fills the additional leading columns. */
export function invoiceCsv(preview: InvoiceRows, ...before: readonly string[]): string {
  const sums = sumsOf(preview)
  return [
    ...preview.lines.map((line) => csvLine([...before, ...columns.map((column) => line[column])])),
    ...sums.map(([name, label, amount]) => csvLine([...before, name, label, '', '', '', '', '', amount])),
  ].join('')
}

const partColumns = ['day', 'project_id', 'project'] as const

/** Returns the lines as CSV, each followed by the parts of its quantity: rows with a day or a project, without amounts. Then the sums. */
export function explainedCsv(shown: InvoiceRows): string {
  const none = partColumns.map(() => '')
  const rows = shown.lines.flatMap((line) => [
    csvLine([...columns.map((column) => line[column]), ...none]),
    ...line.projects.map((part) => csvLine([...partCells(line, part.quantity), '', part.project_id ?? '', projectName(part, line)])),
    ...line.days.map((part) => csvLine([...partCells(line, part.quantity), part.day, '', ''])),
  ])
  const sums = sumsOf(shown).map(([name, label, amount]) => csvLine([name, label, '', '', '', '', '', amount, ...none]))
  return [csvLine([...columns, ...partColumns]), ...rows, ...sums].join('')
}

type Line = InvoiceRows['lines'][number]

const partCells = ({ axis: name, label }: Line, quantity: number) => [name, label, quantity, '', '', '', '', '']

/** Whether all parts belong to the whole organization. */
export const isOfAll = ({ projects }: Pick<Line, 'projects'>): boolean => projects.every(({ project_id: id }) => id === null)

const projectName = ({ project_id: id, name }: Line['projects'][number], line: Line): string =>
  id === null ? (isOfAll(line) ? 'The whole organization' : 'Other projects') : name

export const invoiceFormat = z.enum(['json', 'csv']).optional().meta({ description: 'Defaults to json.' })
