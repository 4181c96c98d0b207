/** Payment state of an invoice, as a mark and a text. */
import type { JSX } from 'preact'
import { Mark } from '../parts/mark.tsx'
import type { InvoiceSummary } from '../wire/api.d.ts'
import { texts } from './billing-texts.ts'

type Facts = Pick<InvoiceSummary, 'type' | 'state' | 'due_at'>
type State = NonNullable<InvoiceSummary['state']> | 'overdue' | 'credit_note'

export function stateOf({ type, state, due_at: due }: Facts): State {
  if (type === 'credit_note' || state === null) return 'credit_note'
  return state === 'open' && due !== null && Date.parse(due) < Date.now() ? 'overdue' : state
}

const marks = {
  ...{ open: 'queued', overdue: 'warning', paid: 'ok', settled: 'none', uncollectible: 'failed', void: 'canceled' },
  credit_note: 'suppressed',
} as const

export const markOf = (invoice: Facts): string => marks[stateOf(invoice)]

export const InvoiceState = ({ invoice }: { readonly invoice: Facts }): JSX.Element => (
  <span class="status">
    <Mark name={markOf(invoice)} />
    {texts().states[stateOf(invoice)]}
  </span>
)
