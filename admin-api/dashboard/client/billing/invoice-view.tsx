/** Content of an invoice or credit note. */
import type { JSX } from 'preact'
import { SafeText } from '../parts/safe-text.tsx'
import { dateOnly, decimal, francs, longTime } from '../parts/time.ts'
import type { Invoice } from '../wire/api.d.ts'
import { colon } from '../texts/language.ts'
import { texts } from './billing-texts.ts'
import { InvoiceLines } from './invoice-lines.tsx'
import { InvoiceState, stateOf } from './invoice-state.tsx'

interface ViewProps {
  readonly invoice: Invoice
  /** Returns the URL of the invoice with this id. */
  readonly pathOf: (id: string) => string
}

export function InvoiceView({ invoice, pathOf }: ViewProps): JSX.Element {
  const w = texts()
  const { period, total_rappen: total, vat_basis_points: rate, voids, reason, due_at: due } = invoice
  const state = stateOf(invoice)
  return (
    <>
      <div class="say">
        <h2>
          {state === 'credit_note'
            ? w.saysCreditNote({ amount: francs(Math.abs(total)), month: period })
            : w.says({ amount: francs(total), month: period })}
        </h2>
        <p class="invoice-state">
          <InvoiceState invoice={invoice} />{' '}
          {(state === 'open' || state === 'overdue') && due !== null && <span>{w.dueAt({ date: dateOnly(due) })}</span>}
          {state === 'settled' && <span>{w.settledText}</span>}
          {voids !== null && <a href={pathOf(voids)}>{w.ofInvoice}</a>}
        </p>
        {reason !== null && (
          <p>
            {w.reason + colon()} <SafeText text={reason} />
          </p>
        )}
      </div>
      <Facts invoice={invoice} />
      <InvoiceLines
        lines={invoice.lines}
        sums={[
          [w.net, invoice.net_rappen],
          [w.vat({ rate: decimal(rate / 100, 0, 2) }), invoice.vat_rappen],
          [w.total, total],
        ]}
      />
      <Remarks remarks={invoice.remarks} />
    </>
  )
}

function Facts({ invoice }: { readonly invoice: Invoice }): JSX.Element {
  const w = texts()
  const last = new Date(Date.parse(invoice.until) - 1).toISOString()
  const rows: readonly (readonly [string, readonly string[]])[] = [
    [w.issued, [dateOnly(invoice.issued_at)]],
    [w.period, [`${invoice.from.slice(0, 10)} – ${last.slice(0, 10)} (UTC)`]],
    [w.recipient, invoice.recipient.length === 0 ? [invoice.organization_name] : invoice.recipient],
    [w.vatNumber, [invoice.vat_number]],
    [w.reference, [invoice.reference]],
    [w.issuer, invoice.issuer],
  ]
  return (
    <div class="block invoice-facts">
      <dl class="facts">
        {rows
          .filter(([, values]) => values.some((value) => value !== ''))
          .map(([name, values]) => (
            <>
              <dt>{name}</dt>
              <dd>
                {values.map((value, i) => (
                  <div key={i}>
                    <SafeText text={value} />
                  </div>
                ))}
              </dd>
            </>
          ))}
      </dl>
    </div>
  )
}

function Remarks({ remarks }: Pick<Invoice, 'remarks'>): JSX.Element | null {
  const w = texts()
  if (remarks.length === 0) return null
  return (
    <section aria-labelledby="invoice-remarks" class="invoice-remarks">
      <div class="head">
        <h2 id="invoice-remarks">{w.payment}</h2>
      </div>
      <dl class="facts">
        {remarks.map(({ at, state, remark }) => (
          <>
            <dt>{longTime(at)}</dt>
            <dd>
              {w.states[state]}
              {remark !== '' && (
                <>
                  : <SafeText text={remark} />
                </>
              )}
            </dd>
          </>
        ))}
      </dl>
    </section>
  )
}
