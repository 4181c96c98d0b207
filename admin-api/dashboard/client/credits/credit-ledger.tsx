/** Ledger of credits: all changes, newest first. The balance is their sum. */
import type { JSX } from 'preact'
import { link } from '../app/location.ts'
import { useList } from '../app/query.ts'
import { List } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { bytes, decimal, longTime } from '../parts/time.ts'
import type { CreditEntry, Site } from '../wire/api.d.ts'
import { texts } from '../billing/billing-texts.ts'

const hourMs = 3_600_000

/** Storage is measured in byte milliseconds and shown in byte hours. */
function quantityOf({ reason, quantity }: CreditEntry): string {
  if (quantity === null) return '–'
  return reason === 'storage' ? `${bytes(Number(quantity) / hourMs)}·h` : bytes(Number(quantity))
}

/** Not rounded, so that the changes add up to the balance. */
function changeOf({ credits: change }: CreditEntry): string {
  const value = Number(change)
  if (value === 0) return '0'
  return `${value < 0 ? '−' : '+'}${decimal(Math.abs(value), 0, 6)}`
}

export function CreditLedger({ sites = [] }: { readonly sites: readonly Site[] | undefined }): JSX.Element {
  const w = texts()
  const list = useList('/v1/billing/credits/entries', {}, { isShown: false, first: 20, moreLimit: 100 })
  const siteOf = ({ site_id: id }: CreditEntry): JSX.Element | string => {
    if (id === null) return '–'
    const site = sites.find((one) => one.id === id)
    return site ? <a href={link(`/websites/${id}`)}>{site.slug}</a> : <code title={id}>{id.slice(-8)}</code>
  }
  return (
    <section aria-labelledby="credit-ledger">
      <div class="head">
        <h2 id="credit-ledger">{w.ledger}</h2>
      </div>
      <List
        label={w.ledger}
        list={list}
        failure={w.ledgerFailed}
        keyOf={({ id }) => id}
        empty={<p class="no-rows soft">{w.noEntries}</p>}
        columns={[
          { head: w.day, class: 'c-status', cell: ({ day, at }) => <time title={longTime(at)}>{day}</time> },
          { head: w.reason, class: 'strong', cell: ({ reason }) => w.reasons[reason] },
          { head: w.website, cell: siteOf },
          { head: w.quantity, class: 'num c-outcome', cell: quantityOf },
          { head: w.change, class: 'num c-outcome', cell: changeOf },
        ]}
        narrow={(one) => [
          <Mark name={one.credits.startsWith('-') ? 'suppressed' : 'ok'} />,
          w.reasons[one.reason],
          [one.day, quantityOf(one)].filter((part) => part !== '–').join(' · '),
          changeOf(one),
        ]}
      />
    </section>
  )
}
