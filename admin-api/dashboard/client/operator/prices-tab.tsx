/** Prices of an organization, each valid from a month on. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { go, linkHere, query } from '../app/location.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { State } from '../parts/states.tsx'
import { shortTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import type { Input } from '../wire/route.ts'
import { texts } from './operator-texts.ts'
import type { TabProps } from './tab.ts'

type Axis = Input<'PUT /operator/v1/organizations/{id}/prices'>['body']['prices'][number]['axis']

const axes = Object.keys({
  ...{ sources: 1, inspect_tests: 1, traces_stored: 1, smtp_credentials: 1, team_orgs: 1, captures: 1, vi_notifies: 1 },
  ...{ smtp_messages: 1, pk_sends: 1, form_submissions: 1, sends_overage: 1 },
} satisfies Record<Axis, 1>) as Axis[]

const perRappen = 1_000_000

export function PricesTab({ account, onChanged }: TabProps): JSX.Element {
  const w = texts()
  const isSetting = query.value.get('new') === '1'
  const set = (
    <a class="button primary" href={linkHere({ new: '1' })}>
      {w.newPrice}
    </a>
  )
  return (
    <>
      {account.prices.length === 0 ? (
        <State title={w.defaultPrices} text={w.defaultPricesText}>
          <div class="actions">{set}</div>
        </State>
      ) : (
        <>
          <div class="actions">{set}</div>
          <table class="table still-table" aria-label={w.prices}>
            <thead>
              <tr>
                <th>{w.axis}</th>
                <th class="num">{w.unitPrice}</th>
                <th>{w.from}</th>
                <th>{w.setAt}</th>
              </tr>
            </thead>
            <tbody>
              {account.prices.map(({ axis, unit_price_urp: price, effective_from: from, set_at: at }) => (
                <tr class="still" key={`${axis} ${from} ${at}`}>
                  <td class="strong">
                    <code>{axis}</code>
                  </td>
                  <td class="num">{price / perRappen}</td>
                  <td>{from}</td>
                  <td>{shortTime(at)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
      {isSetting && <NewPrice account={account} onChanged={onChanged} />}
    </>
  )
}

function NewPrice({ account, onChanged }: TabProps): JSX.Element {
  const w = texts()
  const [axis, setAxis] = useState<Axis>('sources')
  const [price, setPrice] = useState('')
  const [from, setFrom] = useState(new Date().toISOString().slice(0, 7))
  const close = (): void => go(linkHere({ new: '' }), { replaces: true })
  const submit = async (): Promise<void> => {
    const prices = [{ axis, unit_price_urp: Math.round(Number(price) * perRappen), effective_from: from }]
    await call('PUT /operator/v1/organizations/{id}/prices', { path: { id: account.id }, body: { prices } })
    close()
    onChanged()
    toast(w.priceSet)
  }
  const isReady = price !== '' && Number.isFinite(Number(price)) && Number(price) >= 0
  return (
    <FormDialog title={w.newPrice} submit={w.newPrice} needsConfirmation isReady={isReady} onClose={close} onSubmit={submit}>
      {(fault) => (
        <>
          <p class="lead">{w.priceFinal}</p>
          <ChooseField label={w.axis} value={axis} onChange={(value) => setAxis(value as Axis)} options={axes.map((one) => [one, one])} />
          <div class="pair">
            <TextField label={w.unitPrice} value={price} onChange={setPrice} fault={fault?.fields.get('prices.0.unit_price_urp')} isMono />
            <TextField
              label={w.from}
              value={from}
              onChange={setFrom}
              fault={fault?.fields.get('prices.0.effective_from') ?? fault?.fields.get('effective_from')}
              isMono
            />
          </div>
        </>
      )}
    </FormDialog>
  )
}
