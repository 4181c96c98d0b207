/** Usage of an organization within a month, and the resulting invoice. */
import type { JSX } from 'preact'
import { go, linkHere, query } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import { ChooseField } from '../parts/controls.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { francs, number } from '../parts/time.ts'
import { LimitsLedger } from '../usage/limits-ledger.tsx'
import { months } from '../usage/months.ts'
import { texts } from './operator-texts.ts'
import type { TabProps } from './tab.ts'

export function UsageTab({ account: { id } }: Pick<TabProps, 'account'>): JSX.Element {
  const w = texts()
  const all = months()
  const period = all.find((one) => one === query.value.get('period')) ?? all[0] ?? ''
  return (
    <>
      <div class="operator-month">
        <ChooseField
          label={w.month}
          value={period}
          onChange={(value) => go(linkHere({ period: value === all[0] ? '' : value }), { replaces: true })}
          options={all.map((one) => [one, one])}
        />
      </div>
      <Used id={id} period={period} />
      <Invoice id={id} period={period} />
    </>
  )
}

interface MonthProps {
  readonly id: string
  readonly period: string
}

function Used({ id, period }: MonthProps): JSX.Element {
  const w = texts()
  const read = useRead('/operator/v1/organizations/{id}/usage', { path: { id }, query: { period } })
  return (
    <Show read={read} reload={read.reload} failure={w.usageFailed}>
      {(usage) => (
        <>
          <LimitsLedger usage={usage} />
          <ul class="operator-projects">
            {usage.projects.map((project) => (
              <li key={project.project_id}>
                <SafeText text={project.name} />
                <span class="num">{number(project.sends)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </Show>
  )
}

function Invoice({ id, period }: MonthProps): JSX.Element {
  const w = texts()
  const read = useRead('/operator/v1/organizations/{id}/invoice-preview', { path: { id }, query: { period } })
  return (
    <Show read={read} reload={read.reload} failure={w.usageFailed}>
      {({ lines, total_rappen: total }) => (
        <section>
          <h2 class="operator-title">{w.invoice}</h2>
          <div class="scrolls" tabIndex={0} role="group" aria-label={w.invoice}>
            <table class="table still-table" aria-label={w.invoice}>
              <thead>
                <tr>
                  <th>{w.axis}</th>
                  <th class="num">{w.quantity}</th>
                  <th class="num">{w.amount}</th>
                </tr>
              </thead>
              <tbody>
                {lines.map(({ axis, label, quantity, amount_rappen: amount }) => (
                  <tr class="still" key={axis}>
                    <td class="strong" lang="en">
                      {label}
                    </td>
                    <td class="num">{number(quantity)}</td>
                    <td class="num">{francs(amount)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <p class="operator-total">{w.total({ amount: francs(total) })}</p>
        </section>
      )}
    </Show>
  )
}
