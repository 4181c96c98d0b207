/** Text of a request for a larger plan. Only the operator can change plans. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { organization } from '../app/location.ts'
import { ChooseField, copy } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { texts } from './usage-texts.ts'

const plans = ['free', 'basic', 'pro', 'enterprise'] as const

export function AskForPlan({ plan, onClose }: { readonly plan: string; readonly onClose: () => void }): JSX.Element {
  const w = texts()
  const larger = plans.slice(plans.findIndex((one) => one === plan) + 1)
  const [wanted, setWanted] = useState<string>(larger[0] ?? 'enterprise')
  const { id = '', name = '' } = organization.value ?? {}
  const text = w.request({ name, id, now: plan, wanted })
  return (
    <FormDialog title={w.askTitle} submit={w.copyRequest} onClose={onClose} onSubmit={() => copy(text).then(onClose)}>
      {() => (
        <>
          <p>{w.askText}</p>
          <ChooseField label={w.wanted} value={wanted} onChange={setWanted} options={larger.map((one) => [one, one])} />
          <blockquote class="wire">{text}</blockquote>
        </>
      )}
    </FormDialog>
  )
}
