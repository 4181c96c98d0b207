/** Usage that is billed, and default prices. Spec "Limits" 4. */

export interface BillableAxis {
  /** Shown on invoices. */
  readonly label: string
  /** Price of one unit, in millionths of a rappen (urp); 0 is free. */
  readonly unitPriceUrp: number
}

const rappen = 1_000_000

/** In the order of an invoice. */
export const billableAxes = {
  sources: { label: 'Active bounce sources (peak)', unitPriceUrp: 350 * rappen },
  inspect_tests: { label: 'Deliverability tests', unitPriceUrp: 10 * rappen },
  traces_stored: { label: 'Traces stored (daily average)', unitPriceUrp: rappen / 10 },
  smtp_credentials: { label: 'Active SMTP credentials (peak)', unitPriceUrp: 100 * rappen },
  team_orgs: { label: 'Team organizations created', unitPriceUrp: 50 * rappen },
  captures: { label: 'Captured messages', unitPriceUrp: 0 },
  vi_notifies: { label: 'Virtual inbox notifications', unitPriceUrp: 0 },
  smtp_messages: { label: 'Messages sent by SMTP', unitPriceUrp: 0 },
  pk_sends: { label: 'Sends with publishable keys', unitPriceUrp: 0 },
  form_submissions: { label: 'Form submissions, without spam', unitPriceUrp: 0 },
  sends_overage: { label: 'Sends above the plan, per day', unitPriceUrp: 0 },
} as const satisfies Record<string, BillableAxis>

export type Axis = keyof typeof billableAxes

export const axisNames = Object.keys(billableAxes) as [Axis, ...Axis[]]
