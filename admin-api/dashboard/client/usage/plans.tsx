/** Comparison of all plans, including the agreed terms of the organization. */
import type { JSX } from 'preact'
import { organization } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import { Show } from '../parts/states.tsx'
import { francs, number } from '../parts/time.ts'
import type { Plan } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { named } from './named.ts'
import { texts } from './usage-texts.ts'

type Value = Plan['limits'][string]

const shown = (name: string, value: Value | undefined): string => {
  if (name === 'monthly_fee_rappen') return typeof value === 'number' ? francs(value) : texts().byContract
  if (typeof value === 'boolean') return value ? texts().yes : texts().no
  return typeof value === 'number' ? number(value) : allTexts().withoutLimit
}

export function Plans(): JSX.Element {
  const w = texts()
  const { id = '' } = organization.value ?? {}
  const read = useRead('/v1/plans', {})
  const own = useRead('/v1/organizations/{id}', { path: { id } }).data
  return (
    <section aria-labelledby="plans">
      <div class="head">
        <h2 id="plans">{w.plans}</h2>
      </div>
      <Show read={read} reload={read.reload} failure={w.plansFailed}>
        {({ data }) => {
          const mine = data.find(({ name }) => name === own?.plan_tier)
          const names = Object.keys(data[0]?.limits ?? {})
          const differs = (name: string): boolean => own !== undefined && mine !== undefined && own.limits[name] !== mine.limits[name]
          const isAgreed = names.some(differs)
          return (
            <>
              {isAgreed && <p class="no-rows soft">{w.agreed}</p>}
              <div class="scrolls" tabIndex={0} role="group" aria-label={w.plans}>
                <table class="table still-table plans" aria-label={w.plans}>
                  <thead>
                    <tr>
                      <th>{w.limit}</th>
                      {data.map(({ name }) => (
                        <th class="num" key={name}>
                          {name} {name === mine?.name && <span class="tag">{w.yours}</span>}
                        </th>
                      ))}
                      {isAgreed && <th class="num">{w.yourTerms}</th>}
                    </tr>
                  </thead>
                  <tbody>
                    <tr class="still">
                      <td class="strong">{w.creditsAMonth}</td>
                      {data.map((plan) => (
                        <td class={plan === mine ? 'num mine' : 'num'} key={plan.name}>
                          {plan.credits_per_month === null ? w.byContract : number(plan.credits_per_month)}
                        </td>
                      ))}
                      {isAgreed && <td class="num mine">=</td>}
                    </tr>
                    {names.map((name) => (
                      <tr class="still" key={name}>
                        <td class="strong">{named(name)}</td>
                        {data.map((plan) => (
                          <td class={plan === mine ? 'num mine' : 'num'} key={plan.name}>
                            {shown(name, plan.limits[name])}
                          </td>
                        ))}
                        {isAgreed && <td class="num mine">{differs(name) ? shown(name, own?.limits[name]) : '='}</td>}
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            </>
          )
        }}
      </Show>
    </section>
  )
}
