/** Screen for usage: current limits, a month with its projection, projects, and the comparison of plans. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { lineLabel } from '#config/plans/line-texts.ts'
import { lineTexts } from '../billing/line-texts.ts'
import { go, linkHere, organization, query } from '../app/location.ts'
import { mayAdminister, maySeeBilling } from '../app/permissions.ts'
import { useRead } from '../app/query.ts'
import { ChooseField } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { Loading, Show } from '../parts/states.tsx'
import { francs, number } from '../parts/time.ts'
import { TopBar } from '../parts/top-bar.tsx'
import type { InvoicePreview, Usage } from '../wire/api.d.ts'
import type { Answer } from '../wire/route.ts'
import { AskForPlan } from './ask-for-plan.tsx'
import { LimitsLedger } from './limits-ledger.tsx'
import { elapsed, months, projected } from './months.ts'
import { named } from './named.ts'
import { Plans } from './plans.tsx'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './usage-texts.ts'

export default function UsageAndPlan(): JSX.Element {
  const w = texts()
  const all = months()
  const period = all.find((one) => one === query.value.get('period')) ?? all[0] ?? ''
  const read = useRead('/v1/usage', { query: { period } }, { isShown: true })
  const invoice = useRead('/v1/billing/invoice-preview', { query: { period } })
  // the invoice adds rows to the month, so both are shown together
  const isKnown = [read, invoice].every(({ state, data }) => state !== 'loading' || data !== undefined)
  const [isAsking, setAsking] = useState(false)
  const plan = read.data?.plan
  return (
    <>
      <TopBar title={allTexts().sections.usage}>
        {maySeeBilling.value && organization.value && (
          <a class="button" href={`/organizations/${organization.value.id}/usage`} title={w.invoice}>
            <Icon name="download" />
            <span class="shell-label">{w.invoice}</span>
          </a>
        )}
        {mayAdminister.value && plan !== undefined && plan !== 'enterprise' && (
          <button class="button primary" onClick={() => setAsking(true)} title={w.ask}>
            <Icon name="up" />
            <span class="shell-label">{w.ask}</span>
          </button>
        )}
      </TopBar>
      <div class="sheet">
        {isKnown ? (
          <>
            <Show read={read} reload={read.reload} failure={w.failed}>
              {(usage) => (
                <>
                  <div class="say">
                    <h2>{w.say({ plan: usage.plan })}</h2>
                    <p>{mayAdminister.value ? w.sayText : w.onlyAdministrators}</p>
                  </div>
                  <LimitsLedger usage={usage} />
                  <Month period={period} all={all} usage={usage} invoice={invoice.data} />
                </>
              )}
            </Show>
            <Plans />
          </>
        ) : (
          <Loading />
        )}
      </div>
      {isAsking && plan !== undefined && <AskForPlan plan={plan} onClose={() => setAsking(false)} />}
    </>
  )
}

interface MonthProps {
  readonly period: string
  readonly all: readonly string[]
  readonly usage: Usage
  /** Undefined if it could not be read. */
  readonly invoice: Answer<'/v1/billing/invoice-preview'> | undefined
}

function Month({ period, all, usage, invoice }: MonthProps): JSX.Element {
  const w = texts()
  const lines = invoice && 'lines' in invoice ? invoice.lines : undefined
  return (
    <section aria-labelledby="usage-month">
      <div class="head">
        <h2 id="usage-month">{w.used}</h2>
      </div>
      <div class="usage-month">
        <ChooseField
          label={w.month}
          value={period}
          onChange={(value) => go(linkHere({ period: value === all[0] ? '' : value }), { replaces: true })}
          options={all.map((one) => [one, one])}
        />
        <p class="soft">{w.projectedHint}</p>
      </div>
      <Axes usage={usage} lines={lines} />
      {invoice && 'total_rappen' in invoice && <p class="usage-total">{w.soFar({ amount: francs(invoice.total_rappen) })}</p>}
      <p class="no-rows faint">{w.planChanges}</p>
      <Projects usage={usage} />
    </section>
  )
}

/** Prices are in millionths of a rappen. */
const urpPerRappen = 1e6

interface AxesProps {
  readonly usage: Usage
  /** Quantities included in the plan. Undefined while loading. */
  readonly lines: InvoicePreview['lines'] | undefined
}

function Axes({ usage, lines }: AxesProps): JSX.Element {
  const w = texts()
  const part = elapsed(usage)
  const end = (axis: string, quantity: number): string => (part === undefined ? '–' : number(projected(axis, quantity, part)))
  const fees = lines?.filter(({ axis }) => axis === 'monthly_fee') ?? []
  const rows = [
    { axis: 'sends', quantity: usage.sends, included: undefined, billable: undefined, line: undefined },
    ...usage.axes.map(({ axis, quantity }) => {
      const line = lines?.find((one) => one.axis === axis)
      return { axis, quantity, included: line?.included, billable: line?.billable, line }
    }),
    { axis: 'agent_calls', quantity: usage.agent_calls, included: undefined, billable: undefined, line: undefined },
  ]
  return (
    <div class="scrolls" tabIndex={0} role="group" aria-label={w.used}>
      <table class="table still-table axes" aria-label={w.used}>
        <thead>
          <tr>
            <th>{w.what}</th>
            <th class="num">{w.quantity}</th>
            <th class="num">{w.included}</th>
            <th class="num">{w.beyond}</th>
            {lines && <th class="num c-price">{w.price}</th>}
            {lines && <th class="num">{w.amount}</th>}
            <th class="num" title={part === undefined ? w.tooEarly : w.projectedHint}>
              {w.projected}
            </th>
          </tr>
        </thead>
        <tbody>
          {fees.map((fee) => (
            <tr class="still" key={fee.label}>
              <td class="strong">{lineLabel(lineTexts(), fee)}</td>
              <td class="num">{fee.per > 1 ? w.days({ n: fee.quantity }) : '–'}</td>
              <td class="num">–</td>
              <td class="num">–</td>
              <td class="num">
                {francs(fee.unit_price_urp / urpPerRappen)}
                {fee.per > 1 && ` / ${w.days({ n: fee.per })}`}
              </td>
              <td class="num">{francs(fee.amount_rappen)}</td>
              <td class="num">–</td>
            </tr>
          ))}
          {rows.map(({ axis, quantity, included, billable, line }) => (
            <tr class="still" key={axis}>
              <td class="strong">{axis === 'agent_calls' ? w.agentCalls : named(axis)}</td>
              <td class="num">{number(quantity)}</td>
              <td class="num">{included === undefined ? '–' : number(included)}</td>
              <td class="num">{billable === undefined ? '–' : number(billable)}</td>
              {lines && <td class="num">{line ? francs(line.unit_price_urp / urpPerRappen) : '–'}</td>}
              {lines && <td class="num">{line ? francs(line.amount_rappen) : '–'}</td>}
              <td class="num">{end(axis, quantity)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Projects({ usage: { projects } }: { readonly usage: Usage }): JSX.Element {
  const w = texts()
  return (
    <section aria-labelledby="usage-projects">
      <div class="head">
        <h2 id="usage-projects">{w.byProject}</h2>
      </div>
      {projects.length === 0 ? (
        <p class="no-rows soft">{w.noProjects}</p>
      ) : (
        <div class="scrolls" tabIndex={0} role="group" aria-label={w.byProject}>
          <table class="table still-table" aria-label={w.byProject}>
            <thead>
              <tr>
                <th>{w.project}</th>
                <th class="num">{w.sends}</th>
                <th class="num">{w.smtp}</th>
                <th class="num">{w.captured}</th>
              </tr>
            </thead>
            <tbody>
              {projects.map((one) => (
                <tr class="still" key={one.project_id}>
                  <td class="strong">
                    <SafeText text={one.name} />
                  </td>
                  <td class="num">{number(one.sends)}</td>
                  <td class="num">{number(one.smtp_messages)}</td>
                  <td class="num">{number(one.captures)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}
