/** Lines of an invoice. Each line opens a breakdown of its quantity by project and by day. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { lineLabel } from '#config/plans/line-texts.ts'
import { lineTexts } from './line-texts.ts'
import { Icon } from '../parts/icon.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { francs, number } from '../parts/time.ts'
import type { Invoice } from '../wire/api.d.ts'
import { texts } from './billing-texts.ts'

type Line = Invoice['lines'][number]

interface LinesProps {
  readonly lines: readonly Line[]
  readonly sums: readonly (readonly [label: string, rappen: number])[]
}

/** Prices are in millionths of a rappen. */
const urpPerRappen = 1e6

export function InvoiceLines({ lines, sums }: LinesProps): JSX.Element {
  const w = texts()
  const shown = lines.filter(({ quantity, amount_rappen: amount, axis }) => quantity !== 0 || amount !== 0 || axis === 'monthly_fee')
  const without = lines.length - shown.length
  return (
    <section aria-labelledby="invoice-lines">
      <div class="head">
        <h2 id="invoice-lines">{w.lines}</h2>
      </div>
      <div class="scrolls" tabIndex={0} role="group" aria-label={w.lines}>
        <table class="table still-table invoice-lines" aria-label={w.lines}>
          <thead>
            <tr>
              <th>{w.what}</th>
              <th class="num">{w.quantity}</th>
              <th class="num">{w.included}</th>
              <th class="num">{w.billed}</th>
              <th class="num c-price">{w.price}</th>
              <th class="num">{w.amount}</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((line) => (
              <LineRows key={`${line.axis} ${line.label}`} line={line} />
            ))}
          </tbody>
        </table>
      </div>
      <dl class="invoice-sums">
        {sums.map(([label, rappen]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{francs(rappen)}</dd>
          </div>
        ))}
      </dl>
      {without > 0 && <p class="no-rows faint">{w.without({ n: without })}</p>}
    </section>
  )
}

function LineRows({ line }: { readonly line: Line }): JSX.Element {
  const w = texts()
  const [isOpen, setOpen] = useState(false)
  const { quantity, included, billable, unit_price_urp: price, per, amount_rappen: amount, days, projects } = line
  const label = lineLabel(lineTexts(), line)
  const isExplained = days.length + projects.length > 0
  return (
    <>
      <tr class="still">
        <td class="strong">
          {isExplained ? (
            <button class="opener" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              <Icon name={isOpen ? 'down' : 'right'} />
              {label}
            </button>
          ) : (
            label
          )}
        </td>
        <td class="num">{number(quantity)}</td>
        <td class="num">{included === 0 ? '–' : number(included)}</td>
        <td class="num">{number(billable)}</td>
        <td class="num">
          {francs(price / urpPerRappen)}
          {per > 1 && ` ${w.perDays({ days: per })}`}
        </td>
        <td class="num">{francs(amount)}</td>
      </tr>
      {isOpen && (
        <tr class="still explained">
          <td colSpan={6}>
            <Explained line={line} />
          </td>
        </tr>
      )}
    </>
  )
}

/** Breakdown of a line. Omits days and projects without use. */
function Explained({ line: { days, projects } }: { readonly line: Line }): JSX.Element {
  const w = texts()
  const others = projects.every(({ project_id: id }) => id === null) ? w.wholeOrganization : w.otherProjects
  return (
    <div class="explained-parts">
      {projects.length > 0 && (
        <div>
          <h3>{w.byProject}</h3>
          <dl class="facts">
            {projects.map(({ project_id: id, name, quantity }) => (
              <>
                <dt>{id === null ? others : <SafeText text={name} />}</dt>
                <dd>{number(quantity)}</dd>
              </>
            ))}
          </dl>
        </div>
      )}
      {days.length > 0 && (
        <div>
          <h3>{w.byDay}</h3>
          <dl class="facts by-day">
            {days.map(({ day, quantity }) => (
              <div key={day}>
                <dt>{day}</dt>
                <dd>{number(quantity)}</dd>
              </div>
            ))}
          </dl>
        </div>
      )}
    </div>
  )
}
