/** Plan and payment state of an organization. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { linkHere } from '../app/location.ts'
import { ChooseField } from '../parts/controls.tsx'
import type { OperatorAccount } from '../wire/api.d.ts'
import { texts } from './operator-texts.ts'
import { change, type TabProps } from './tab.ts'

const plans = ['anonymous', 'free', 'basic', 'pro', 'enterprise'] as const
const states = ['none', 'manual_ok', 'past_due'] as const

export function PlanTab({ account, onChanged }: TabProps): JSX.Element {
  const w = texts()
  const path = { id: account.id }
  const [plan, setPlan] = useState<OperatorAccount['plan']>(account.plan)
  const [state, setState] = useState<OperatorAccount['payment_state']>(account.payment_state)
  const putPlan = (next: typeof plan) => call('PUT /operator/v1/organizations/{id}/plan', { path, body: { plan: next } })
  const putState = (next: typeof state) =>
    call('PUT /operator/v1/organizations/{id}/payment-state', { path, body: { payment_state: next } })
  return (
    <div class="form">
      <form
        class="field"
        onSubmit={(event) => {
          event.preventDefault()
          if (plan !== account.plan)
            void change(
              () => putPlan(plan),
              w.planSet({ plan }),
              onChanged,
              () => putPlan(account.plan),
            )
        }}
      >
        <ChooseField
          label={w.plan}
          hint={w.planHint}
          value={plan}
          onChange={(value) => setPlan(value as typeof plan)}
          options={plans.map((one) => [one, one])}
        />
        <div class="actions">
          <button class="button primary" aria-disabled={plan === account.plan}>
            {w.setPlan}
          </button>
        </div>
      </form>
      <form
        class="field"
        onSubmit={(event) => {
          event.preventDefault()
          if (state !== account.payment_state)
            void change(
              () => putState(state),
              w.paymentSet({ state }),
              onChanged,
              () => putState(account.payment_state),
            )
        }}
      >
        <ChooseField
          label={w.payment}
          value={state}
          onChange={(value) => setState(value as typeof state)}
          options={states.map((one) => [one, one])}
        />
        <div class="actions">
          <button class="button" aria-disabled={state === account.payment_state}>
            {w.setPayment}
          </button>
          <a href={linkHere({ tab: 'invoices' })}>{w.seeInvoices}</a>
        </div>
      </form>
    </div>
  )
}
